// SPDX-License-Identifier: MIT
#include "client/url.h"

#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct url read_good(const char *text)
{
    struct url url;
    struct sluice_error error = { 0 };
    print_message("# %s\n", text);
    enum sluice_status status = url_read(text, &url, &error);
    if (status) {
        print_message("# %s\n", error.message);
    }
    assert_int_equal(status, SLUICE_OK);
    return url;
}

static void test_url__a_server_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool tls;
        const char *host, *port, *user, *password, *ns;
    } forms[] = {
        { "sluice://host", false, "host", "7711", "", "", "" },
        { "redis://host", false, "host", "7711", "", "", "" },
        { "sluices://host", true, "host", "7711", "", "", "" },
        { "rediss://host", true, "host", "7711", "", "", "" },
        { "sluice://", false, "127.0.0.1", "7711", "", "", "" },
        { "sluice://:6379", false, "127.0.0.1", "6379", "", "", "" },
        { "sluice:///app", false, "127.0.0.1", "7711", "", "", "app" },
        { "sluice://host:1/app", false, "host", "1", "", "", "app" },
        { "sluice://host:65535/", false, "host", "65535", "", "", "" },
        { "sluice://10.0.0.1:80?ns=app", false, "10.0.0.1", "80", "", "", "app" },
        { "sluice://host/app?ns=other", false, "host", "7711", "", "", "other" },
        { "sluice://[::1]", false, "::1", "7711", "", "", "" },
        { "sluice://[::1]:99/app", false, "::1", "99", "", "", "app" },
        { "sluice://[fe80::1%25eth0]:99", false, "fe80::1%eth0", "99", "", "", "" },
        { "sluice://:pw@host", false, "host", "7711", "", "pw", "" },
        { "sluice://ann@host", false, "host", "7711", "ann", "", "" },
        { "sluice://ann:pw@host:1/app", false, "host", "1", "ann", "pw", "app" },
        { "sluice://ann:p:w@host", false, "host", "7711", "ann", "p:w", "" },
        { "sluice://ann:p@w@[::1]:5", false, "::1", "5", "ann", "p@w", "" },
        { "sluice://a%6en:%40%2f%3A%3f@host", false, "host", "7711", "ann", "@/:?", "" },
        { "sluice://host/a%2Fb%20c", false, "host", "7711", "", "", "a/b c" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, forms, forms[i].text); i++) {
        struct url url = read_good(forms[i].text);
        assert_int_equal(url.kind, URL_SERVER);
        assert_int_equal(url.tls, forms[i].tls);
        assert_string_equal(url.host, forms[i].host);
        assert_string_equal(url.port, forms[i].port);
        assert_string_equal(url.user, forms[i].user);
        assert_string_equal(url.password, forms[i].password);
        assert_string_equal(url.ns, forms[i].ns);
    }
}

static void test_url__a_folder_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path, *ns, *durability;
    } forms[] = {
        { "file:jobs", "jobs", "", "" },
        { "file:/var/jobs", "/var/jobs", "", "" },
        { "file:///var/jobs", "/var/jobs", "", "" },
        { "file:a%20b%3fc", "a b?c", "", "" },
        { "file:jobs?ns=app", "jobs", "app", "" },
        { "file:jobs?durability=interval:50&ns=a%26b", "jobs", "a&b", "interval:50" },
        { "file:jobs?", "jobs", "", "" },
        { "file:a@b:c", "a@b:c", "", "" },
        { "file:jobs?create=yes&ns=app", "jobs", "app", "" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, forms, forms[i].text); i++) {
        struct url url = read_good(forms[i].text);
        assert_int_equal(url.kind, URL_FILE);
        assert_false(url.tls);
        assert_string_equal(url.path, forms[i].path);
        assert_string_equal(url.ns, forms[i].ns);
        assert_string_equal(url.durability, forms[i].durability);
        assert_false(url.existing);
        assert_int_equal(url.max_payload, 0);
    }
    assert_int_equal(read_good("file:jobs?max-payload=4096").max_payload, 4096);
    assert_int_equal(read_good("file:jobs?max-payload=536870912&ns=app").max_payload, 512 << 20);
    assert_true(read_good("file:jobs?create=no").existing);
}

static void test_url__a_socket_in_every_form(void **state)
{
    (void)state;
    char here[URL_PART_SIZE], text[2 * URL_PART_SIZE], place[2 * URL_PART_SIZE];
    static const struct {
        const char *text, *path, *ns, *user;
    } forms[] = {
        { "unix:/run/app.sock", "/run/app.sock", "", "" },
        { "unix:///run/app.sock", "/run/app.sock", "", "" },
        { "unix:/run/a%20b%3F?ns=app", "/run/a b?", "app", "" },
        { "unix:/run/s?user=ann&ns=a%26b", "/run/s", "a&b", "ann" },
        { "unix:/run/a@b:7711#c", "/run/a@b:7711#c", "", "" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, forms, forms[i].text); i++) {
        struct url url = read_good(forms[i].text);
        assert_int_equal(url.kind, URL_SERVER);
        assert_false(url.tls);
        assert_string_equal(url.socket, forms[i].path);
        assert_string_equal(url.ns, forms[i].ns);
        assert_string_equal(url.user, forms[i].user);
        (void)snprintf(place, sizeof(place), "unix:%s", forms[i].path);
        assert_string_equal(url.place, place);
    }
    assert_int_equal(chdir("/tmp"), 0);
    assert_non_null(getcwd(here, sizeof(here)));
    (void)snprintf(text, sizeof(text), "%s/queue.sock", here);
    assert_string_equal(read_good("unix:queue.sock").socket, text);
    assert_string_equal(read_good("sluice://host").place, "host:7711");
}

static void test_url__what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } wrong[] = {
        { "", "begins with file:" },
        { "host:7711", "begins with file:" },
        { "http://host", "begins with file:" },
        { "sluice:host", "begins with file:" },
        { "SLUICE://host", "begins with file:" },
        { "file:", "path" },
        { "file:?ns=app", "path" },
        { "file://host/jobs", "another machine" },
        { "file:jobs?name=x", "option \"name\"" },
        { "file:jobs?create=maybe", "create" },
        { "sluice://host?create=no", "option \"create\"" },
        { "file:jobs?max-payload=4095", "from 4096 to 536870912" },
        { "file:jobs?max-payload=536870913", "from 4096 to 536870912" },
        { "file:jobs?max-payload=1M", "from 4096 to 536870912" },
        { "sluice://host?max-payload=4096", "option \"max-payload\"" },
        { "file:a%2", "path has a %" },
        { "file:a%", "path has a %" },
        { "file:a%zz", "path has a %" },
        { "file:a%00b", "path has a %" },
        { "sluice://host?durability=never", "option \"durability\"" },
        { "sluice://host:port", "port" },
        { "sluice://host:0", "port" },
        { "sluice://host:65536", "port" },
        { "sluice://host:123456", "port" },
        { "sluice://host:-1", "port" },
        { "sluice://::1", "port" },
        { "sluice://[::1", "]" },
        { "sluice://[::1]7711", "]" },
        { "sluice://host/%f", "namespace has a %" },
        { "sluice://ann:%@host", "password has a %" },
        { "sluice://%:pw@host", "user has a %" },
        { "sluice://host#app", "#" },
        { "unix:", "path" },
        { "unix:/s?durability=never", "option \"durability\"" },
        { "unix:/s?password=x", "option \"password\"" },
        { "sluice://host?user=ann", "option \"user\"" },
        { "unix:/12345678901234567890123456789012345678901234567890123456789012345678901234567890"
          "123456789012345678901234567",
          "at most 107 bytes, and /1234" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i].text); i++) {
        struct url url;
        struct sluice_error error = { 0 };
        print_message("# %s\n", wrong[i].text);
        assert_int_equal(url_read(wrong[i].text, &url, &error), SLUICE_INVALID);
        assert_int_equal(error.status, SLUICE_INVALID);
        print_message("# %s\n", error.message);
        assert_non_null(strstr(error.message, wrong[i].word));
        assert_int_equal(url_read(wrong[i].text, &url, NULL), SLUICE_INVALID);
    }
}

static void test_url__parts_have_a_size(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *word;
    } places[] = {
        { "file:", "", "path is too long" },
        { "file:a?ns=", "", "namespace is too long" },
        { "file:a?durability=", "", "durability is too long" },
        { "sluice://", "", "host is too long" },
        { "sluice://", ":pw@host", "user is too long" },
        { "sluice://ann:", "@host", "password is too long" },
        { "sluice://host/", "", "namespace is too long" },
    };
    char filling[2 * URL_PART_SIZE];
    memset(filling, 'x', sizeof(filling) - 1);
    filling[sizeof(filling) - 1] = '\0';
    for (size_t i = 0; TEST_ROW_NAMED(i, places, places[i].before); i++) {
        char text[3 * URL_PART_SIZE];
        struct url url;
        struct sluice_error error = { 0 };
        (void)snprintf(text, sizeof(text), "%s%s%s", places[i].before, filling, places[i].after);
        assert_int_equal(url_read(text, &url, &error), SLUICE_INVALID);
        print_message("# %s\n", error.message);
        assert_non_null(strstr(error.message, places[i].word));
    }
}

// However it is written, and whatever is wrong with the rest.
static void test_url__a_sentence_never_shows_a_password(void **state)
{
    (void)state;
    static const char *const passwords[] = { "s3cr",      "s3cr/s3cr", "/s3cr",      "?s3cr=s3cr",
                                             "s3cr?s3cr", "s3cr#s3cr", "s3cr&s3cr=", "s3cr%",
                                             "%zzs3cr",   "s3cr@s3cr", "s3cr:s3cr",  "[s3cr",
                                             "]s3cr:s3cr" };
    static const char *const forms[] = {
        "sluice://ann:%s@host:port",    "sluice://ann:%s@host:99999", "sluice://ann:%s@[::1",
        "sluice://ann:%s@host?x=y",     "sluice://:%s@host:port",     "rediss://%s@host:x",
        "sluice://ann:%s@host/ns?%%41", "http://ann:%s@host",         "ann:%s@host",
        "sluice://ann:%s@host/%%",      "sluice://ann:%s@host:7711",  "sluice:ann:%s@host",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, passwords, passwords[i]); i++) {
        for (size_t j = 0; TEST_ROW_NAMED(j, forms, forms[j]); j++) {
            char text[200];
            struct url url;
            struct sluice_error error = { 0 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(text, sizeof(text), forms[j], passwords[i]);
#pragma GCC diagnostic pop
            if (url_read(text, &url, &error)) {
                print_message("# %s: %s\n", text, error.message);
                assert_null(strstr(error.message, "s3cr"));
            }
        }
    }
}

// What is not escaped in a password must not make another address of it.
static void test_url__a_password_with_a_slash_is_refused_not_misread(void **state)
{
    (void)state;
    static const char *const texts[] = { "sluice://ann:1/s@host", "sluice://ann:1?s@host",
                                         "sluice://ann:1/s@host/app", "sluice://ann:1?ns=s@host" };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        struct url url;
        struct sluice_error error = { 0 };
        print_message("# %s\n", texts[i]);
        assert_int_equal(url_read(texts[i], &url, &error), SLUICE_INVALID);
        assert_non_null(strstr(error.message, "%2F"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url__a_server_in_every_form),
        cmocka_unit_test(test_url__a_folder_in_every_form),
        cmocka_unit_test(test_url__a_socket_in_every_form),
        cmocka_unit_test(test_url__what_is_wrong_is_named),
        cmocka_unit_test(test_url__parts_have_a_size),
        cmocka_unit_test(test_url__a_sentence_never_shows_a_password),
        cmocka_unit_test(test_url__a_password_with_a_slash_is_refused_not_misread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
