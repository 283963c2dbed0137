// SPDX-License-Identifier: MIT
// The main function of sluiced.
#include "server/config/password.h"
#include "server/http/dashboard.h"
#include "server/log/log.h"
#include "server/net/tls.h"
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static int refuse(const struct error *error)
{
    log_stop();
    (void)fprintf(stderr, "sluiced: %s\n", error_sentence(error));
    return EXIT_FAILURE;
}

static int print(void (*write)(struct buffer *out))
{
    struct buffer text;
    buffer_init(&text, &allocator_system, 1 << 20);
    write(&text);
    bool good =
        !text.status && fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0;
    buffer_release(&text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void warn(void *context, const char *name, const char *sentence)
{
    (void)context;
    log_line(LOG_LEVEL_WARNING, "setting", LOG_STRING("name", name), LOG_STRING("says", sentence));
}

// Prints how to put a first job, if the standard output is a terminal.
static void greet(const struct server *server)
{
    char address[ADDRESS_TEXT_SIZE];
    if (!isatty(STDOUT_FILENO) || !server_address(server, 0, address)) {
        return;
    }
    bool local = strncmp(address, "unix:", 5) == 0;
    const char *colon = local ? strchr(address, ':') : strrchr(address, ':');
    const char *where = colon ? colon + 1 : "";
    const char *flag = local ? "-s" : "-p";
    log_flush(); // so that the log lines of the start come first
    (void)printf("\nsluiced %s is ready on %s. In another terminal:\n\n"
                 "    redis-cli -3 %s %s Q.PUT demo mail Send '{\"to\":\"ann\"}'\n"
                 "    redis-cli -3 %s %s Q.POP demo worker-1 1 mail\n\n",
                 SLUICE_VERSION, address, flag, where, flag, where);
    char url[DASHBOARD_URL_SIZE];
    if (dashboard_url(server, url)) {
        (void)printf("The dashboard is at %s\n\n", url);
    }
    (void)printf("Ctrl-C stops it; what was put stays in %s.\n\n", server->settings.data);
    (void)fflush(stdout);
}

// ---------------------------------------------------------------------------------------------
// --check-config

static void print_problem(void *context, const struct error *problem)
{
    (void)context;
    (void)fprintf(stderr, "sluiced: %s\n", error_sentence(problem));
}

static void print_warning(void *context, const char *name, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "sluiced: warning: %s: %s\n", name, sentence);
}

// The files that the settings name are read as a start would read them.
static enum status check_certificates(const struct settings *settings, struct error *error)
{
    struct tls *tls = NULL;
    if (!*settings->tls_cert || !*settings->tls_key) {
        return STATUS_OK; // none, or settings_check has said that one is missing
    }
    enum status status = tls_new(settings->allocator, settings, &tls, error);
    tls_free(tls);
    return status;
}

static int check_config(int argc, char **argv)
{
    struct settings settings;
    struct settings_problems problems = { .report = print_problem };
    struct error error;
    if (settings_examine(&settings, &allocator_system, argc, argv, environ, &problems, &error)) {
        return refuse(&error);
    }
    if (check_certificates(&settings, &error)) {
        problems.count++;
        print_problem(NULL, &error);
    }
    const struct settings_listener listener = { .report = print_warning };
    settings_warn(&settings, &listener);
    settings_release(&settings);
    if (problems.count) {
        (void)fprintf(stderr, "sluiced: the settings have %zu error%s\n", problems.count,
                      problems.count == 1 ? "" : "s");
        return EXIT_FAILURE;
    }
    (void)printf("the settings are valid\n");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (settings_wants_check(argc, argv)) {
        return check_config(argc, argv);
    }
    struct settings settings;
    struct error error;
    enum settings_request request;
    if (settings_load(&settings, &allocator_system, argc, argv, environ, &request, &error)) {
        return refuse(&error);
    }
    if (request == SETTINGS_HELP) {
        return print(settings_help);
    }
    if (request == SETTINGS_MANUAL || request == SETTINGS_MANUAL_FILE) {
        return print(request == SETTINGS_MANUAL ? settings_manual : settings_manual_file);
    }
    if (request == SETTINGS_VERSION) {
        (void)printf("sluiced %s\n", SLUICE_VERSION);
        return EXIT_SUCCESS;
    }
    if (request == SETTINGS_HASH_PASSWORD) {
        return password_hash_line(stdin, stdout, &error) ? refuse(&error) : EXIT_SUCCESS;
    }
    if (settings_check(&settings, &error)) {
        settings_release(&settings);
        return refuse(&error);
    }
    if (log_start(settings.log_buffer, &error)) {
        settings_release(&settings);
        return refuse(&error);
    }
    const struct settings_listener listener = { .report = warn };
    settings_warn(&settings, &listener);
    // Takes over the settings, also when it fails.
    struct server server;
    if (server_init(&server, &settings, environ, &error)) {
        return refuse(&error);
    }
    greet(&server);
    enum status status = server_run(&server, &error);
    server_release(&server);
    if (status) {
        return refuse(&error);
    }
    log_stop();
    return EXIT_SUCCESS;
}
