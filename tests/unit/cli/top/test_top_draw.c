// SPDX-License-Identifier: MIT
// A look that is made by hand, and the screens that it becomes.
#include "cli/top/draw.h"

#include "cli/core/cli.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

#define NOW 1784000060.0

static struct look_queue queues[] = {
    { .name = "mail",
      .waiting = 1200,
      .running = 3,
      .seen = true,
      .failed = 12,
      .in = 250,
      .out = 248.5 },
    { .name = "reports",
      .waiting = 400,
      .running = 1,
      .scheduled = 7,
      .depends = 2,
      .stalled = 1,
      .seen = true,
      .in = 0.5 },
    { .name = "thumbnails-of-pictures-that-people-sent", .waiting = 10000000, .paused = true },
    { .name = "evil\033[2J\xE6\x97\xA5\xFF", .seen = true },
};

static struct look_job running[] = {
    { .jid = "019f5eaf-b1f4-7000-8000-00000000abcd",
      .klass = "Send",
      .queue = "mail",
      .state = "running",
      .worker = "worker-1",
      .message = "page 4 of 10",
      .failure = "",
      .since = NOW - 252,
      .expires = NOW + 48,
      .fraction = 0.4,
      .token = 7 },
    { .jid = "report-1",
      .klass = "Daily",
      .queue = "reports",
      .state = "running",
      .worker = "worker-2",
      .message = "",
      .failure = "",
      .since = NOW - 61,
      .expires = NOW - 1,
      .fraction = -1 },
    { .jid = "mail-7",
      .klass = "Send",
      .queue = "mail",
      .state = "running",
      .worker = "worker-1",
      .message = "",
      .failure = "",
      .since = NOW - 1,
      .expires = NOW + 59,
      .fraction = 1 },
};

static struct look_group groups[] = {
    { .name = "smtp",
      .count = 11,
      .seen = true,
      .jid = "mail-3",
      .when = NOW - 3600,
      .message = "no such host: mx1.example.org did not answer at all" },
    { .name = "timeout", .count = 1, .jid = "", .message = "" },
};

static struct look_worker workers[] = {
    { .name = "worker-1", .running = 2, .seen = NOW - 1 },
    { .name = "worker-2", .running = 1, .expired = 1, .seen = NOW - 300, .offline = true },
};

static struct look_line lines[] = {
    { "",
      "Job mail-3 has failed in the group smtp, and is not tried again before somebody says so." },
    { "", "" },
    { "jid", "mail-3" },
    { "data", "{\"to\":\"ann\"}" },
    { "failure message", "first line\nsecond line" },
};

// As it comes from a server whose clock is 100 seconds before ours.
static struct look look;
static struct top_view view;
static struct screen screen;

static int set_up(void **state)
{
    (void)state;
    look = (struct look){
        .server = "sluiced 0.1.0",
        .ahead = 100,
        .totals = { .waiting = 10001600,
                    .running = 4,
                    .scheduled = 7,
                    .stalled = 1,
                    .depends = 2,
                    .failed = 12,
                    .complete = 99,
                    .in = 250.5,
                    .out = 248.5 },
        .queues = queues,
        .queue_count = 4,
        .running = running,
        .running_count = 3,
        .groups = groups,
        .group_count = 2,
        .workers = workers,
        .worker_count = 2,
        .worker_total = 2,
    };
    view = (struct top_view){
        .url = "sluice://127.0.0.1:7711",
        .ns = "app",
        .interval = 2,
        .now = NOW - 100,
        .link = LINK_GOOD,
        .trouble = "",
    };
    screen = (struct screen){ .utf8 = true };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    view_release(&view);
    screen_release(&screen);
    tool_free_all();
    return 0;
}

// The screen as text; valid until the next call.
static const char *draw(int rows, int columns)
{
    static char text[1 << 16];
    screen_resize(&screen, rows, columns);
    top_draw(&screen, &view, &look);
    FILE *out = fmemopen(text, sizeof(text), "w");
    assert_non_null(out);
    screen_print(&screen, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

// A row of the screen as it was drawn last.
static const char *row_of(const char *text, int row)
{
    static char line[1024];
    for (; row > 0; row--) {
        text = strchr(text, '\n') + 1;
    }
    (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
    return line;
}

static void test_top_draw__all_panes_on_80_columns_and_24_rows(void **state)
{
    (void)state;
    assert_string_equal(
        draw(24, 80),
        " app  sluice://127.0.0.1:7711  sluiced 0.1.0      connected  every 2s  03:32:40\n"
        " wait 10.0M run 4 sched 7 stall 1 deps 2 fail 12 done 99     250/s in 248/s out\n"
        ">1 Queues (4)         wait   run sched stall  deps  fail  in/s out/s\n"
        ">mail                 1200     3     0     0     0    12   250   248 █░░░░░░░░░\n"
        " reports               400     1     7     1     2     0  0.50     0 █░░░\n"
        " thumbnails-of-pict… 10.0M     0     0     0     0     .     .     . paused\n"
        " evil�[2J日�             0     0     0     0     0     0     0     0\n"
        " 2 Running (4)  queue     klass    worker        for  lease            message\n"
        " …-00000000abcd mail      Send     worker-1    4m12s    48s ██░░░  40% page 4 o…\n"
        " report-1       reports   Daily    worker-2    1m01s  ended\n"
        " mail-7         mail      Send     worker-1       1s    59s █████ 100%\n"
        " 3 Failures (2)          jobs newest job          message\n"
        " smtp                      11  1h00m mail-3       no such host: mx1.example.or…\n"
        " timeout                    1      .\n"
        " 4 Workers (2)                             running  expired     seen\n"
        " worker-1                                        2        0       1s\n"
        " worker-2                                        1        1    5m00s offline\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "q quit  ? help  tab pane  enter open  p pause  r retry  c cancel  e why  / find\n");
}

static void test_top_draw__more_room_is_used(void **state)
{
    (void)state;
    // Rows are longer than lines of code.
    // clang-format off
    assert_string_equal(draw(40, 132),
        " app  sluice://127.0.0.1:7711  sluiced 0.1.0                                                          connected  every 2s  03:32:40\n"
        " waiting 10001600 running 4 scheduled 7 stalled 1 depends 2 failed 12 complete 99                                250/s in 248/s out\n"
        ">1 Queues (4)                                  wait     run     sched   stall    deps    fail   in/s  out/s\n"
        ">mail                                          1200       3         0       0       0      12    250    248 █░░░░░░░░░░░░░░░░░░░░░░\n"
        " reports                                        400       1         7       1       2       0   0.50      0 █░░░░░░░░\n"
        " thumbnails-of-pictures-that-people-sent   10000000       0         0       0       0       .      .      . paused\n"
        " evil�[2J日�                                      0       0         0       0       0       0      0      0\n"
        " 2 Running (4)              queue          klass           worker               for  lease                  message\n"
        " …f4-7000-8000-00000000abcd mail           Send            worker-1           4m12s    48s █████░░░░░░  40% page 4 of 10\n"
        " report-1                   reports        Daily           worker-2           1m01s  ended\n"
        " mail-7                     mail           Send            worker-1              1s    59s ███████████ 100%\n"
        " 3 Failures (2)                         jobs newest job                                  message\n"
        " smtp                                     11  1h00m mail-3                               no such host: mx1.example.org did not ans…\n"
        " timeout                                   1      .\n"
        " 4 Workers (2)                                                                                 running  expired     seen\n"
        " worker-1                                                                                            2        0       1s\n"
        " worker-2                                                                                            1        1    5m00s offline\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "q quit  ? help  tab pane  enter open  p pause  r retry  c cancel  e why  / find\n");
    // clang-format on
}

static void test_top_draw__the_pane_in_focus_has_the_most_rows(void **state)
{
    (void)state;
    static struct look_queue many[1000];
    for (size_t i = 0; i < 1000; i++) {
        many[i] = (struct look_queue){ .name = tool_format("queue-%03zu", i), .seen = true };
    }
    look.queues = many;
    look.queue_count = 1000;
    draw(24, 80);
    assert_int_equal(view.lists[PANE_QUEUES].height, 11);
    assert_int_equal(view.lists[PANE_RUNNING].height, 2);
    assert_int_equal(view.lists[PANE_FAILURES].height, 2);
    assert_int_equal(view.lists[PANE_WORKERS].height, 2);
    view_focus(&view, PANE_WORKERS);
    draw(24, 80);
    assert_int_equal(view.lists[PANE_WORKERS].height, 2);
    // What is not needed there goes to the others.
    assert_int_equal(view.lists[PANE_RUNNING].height, 3);
    assert_int_equal(view.lists[PANE_QUEUES].height, 10);
}

static void test_top_draw__a_list_scrolls_with_what_is_chosen(void **state)
{
    (void)state;
    static struct look_queue many[1000];
    for (size_t i = 0; i < 1000; i++) {
        many[i] = (struct look_queue){ .name = tool_format("queue-%03zu", i), .seen = true };
    }
    look.queues = many;
    look.queue_count = 1000;
    draw(24, 80);
    view_move(&view, &look, 500);
    const char *text = draw(24, 80);
    assert_non_null(strstr(text, ">queue-500 "));
    assert_null(strstr(text, "queue-501"));
    assert_int_equal(view.wish.queues.first, 490);
    // A row of it goes away: what was chosen still is.
    look.queues = many + 100;
    look.queue_count = 900;
    assert_non_null(strstr(draw(24, 80), ">queue-500 "));
    // It goes itself: something near it is.
    look.queues = many + 501;
    look.queue_count = 20;
    assert_non_null(strstr(draw(24, 80), ">queue-"));
    view_move_to(&view, &look, SIZE_MAX);
    assert_non_null(strstr(draw(24, 80), ">queue-520 "));
    view_move(&view, &look, -1000);
    assert_non_null(strstr(draw(24, 80), ">queue-501 "));
    // None is left.
    look.queue_count = 0;
    text = draw(24, 80);
    assert_non_null(strstr(text, "no queues"));
    assert_null(view_key(&view, &look));
}

static void test_top_draw__a_filter_leaves_what_has_it_in_its_name(void **state)
{
    (void)state;
    (void)snprintf(view.wish.filter, sizeof(view.wish.filter), "MAIL");
    const char *text = draw(24, 80);
    assert_non_null(strstr(text, ">mail "));
    assert_null(strstr(text, "reports"));
    assert_null(strstr(text, "report-1"));
    assert_non_null(strstr(text, "mail-7"));
    assert_non_null(strstr(text, "nothing matches"));
    assert_string_equal(row_of(text, 23), "/MAIL  q quit  ? help  tab pane  enter open  p pause  "
                                          "r retry  c cancel  e why \xE2\x80\xA6");
    view.typing = true;
    assert_string_equal(row_of(draw(24, 80), 23), "/MAIL_  enter keeps it, esc drops it");
}

static void test_top_draw__the_state_of_the_connection_is_shown(void **state)
{
    (void)state;
    static const struct {
        enum top_link link;
        const char *text;
    } rows[] = {
        { LINK_OPENING, "connecting 12s  every 2s" }, { LINK_GOOD, "connected  every 2s" },
        { LINK_SLOW, "no answer 12s  every 2s" },     { LINK_BROKEN, "reconnecting 12s  every 2s" },
        { LINK_REFUSED, "refused  every 2s" },
    };
    view.quiet = 12;
    view.trouble = "127.0.0.1:7711: connection refused";
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        view.link = rows[i].link;
        const char *text = draw(24, 80);
        assert_non_null(strstr(row_of(text, 0), rows[i].text));
        assert_string_equal(row_of(text, 23), view.trouble);
    }
    // What happened comes first, a question before it.
    (void)snprintf(view.note, sizeof(view.note), "Queue mail is paused");
    assert_string_equal(row_of(draw(24, 80), 23), "Queue mail is paused");
    (void)snprintf(view.question, sizeof(view.question), "Cancel job mail-7? y/n");
    assert_string_equal(row_of(draw(24, 80), 23), "Cancel job mail-7? y/n");
}

static void test_top_draw__before_the_first_look(void **state)
{
    (void)state;
    view.link = LINK_OPENING;
    screen_resize(&screen, 24, 80);
    top_draw(&screen, &view, NULL);
    assert_null(view_key(&view, NULL));
    assert_null(view_job(&view, NULL));
    // It does not know yet how much there will be in sight.
    assert_int_equal(view.wish.queues.count, 0);
}

static void test_top_draw__jobs_of_a_group(void **state)
{
    (void)state;
    static struct look_job failed[] = {
        { .jid = "mail-3",
          .klass = "Send",
          .queue = "mail",
          .state = "failed",
          .stage = "",
          .worker = "",
          .message = "",
          .failure = "no such host",
          .since = NOW - 60,
          .fraction = -1 },
    };
    draw(24, 80);
    view_open_list(&view, LIST_GROUP, "smtp");
    assert_non_null(strstr(draw(24, 80), "asking ..."));
    look.wish = view.wish;
    look.jobs = failed;
    look.job_count = 1;
    look.job_total = 11;
    const char *text = draw(24, 80);
    assert_string_equal(row_of(text, 2),
                        ">Jobs failed: smtp (11)   state     queue     klass        for message");
    assert_string_equal(
        row_of(text, 3),
        ">mail-3                   failed    mail      Send       1m00s no such host");
    assert_string_equal(view_job(&view, &look)->jid, "mail-3");
    view_open_job(&view, "mail-3", false);
    view_back(&view);
    assert_int_equal(view.page, PAGE_JOBS);
    view_back(&view);
    assert_int_equal(view.page, PAGE_PANES);
}

static void test_top_draw__the_details_of_a_job_are_wrapped_and_scroll(void **state)
{
    (void)state;
    view_open_job(&view, "mail-3", false);
    look.wish = view.wish;
    look.lines = lines;
    look.line_count = sizeof(lines) / sizeof(lines[0]);
    assert_string_equal(draw(14, 60),
                        " app  sluice://127.0.0.1:77…  connected  every 2s  03:32:40\n"
                        " wait 10.0M run 4 sched 7 stall 1 deps 2 fail 12 done 99 25…\n"
                        " Job mail-3\n"
                        " Job mail-3 has failed in the group smtp, and is not tried\n"
                        " again before somebody says so.\n"
                        "\n"
                        " jid               mail-3\n"
                        " data              {\"to\":\"ann\"}\n"
                        " failure message   first line\n"
                        "                   second line\n"
                        "\n"
                        "\n"
                        "\n"
                        "q quit  ? help  esc back  r retry  c cancel  e why\n");
    // No further than to its end.
    view_move(&view, &look, 1000);
    assert_string_equal(row_of(draw(9, 60), 7), "                   second line");
    view_move(&view, &look, -1);
    assert_string_equal(row_of(draw(9, 60), 7), " failure message   first line");
}

static void test_top_draw__help_names_every_key(void **state)
{
    (void)state;
    view.page = PAGE_HELP;
    const char *text = draw(24, 80);
    static const char *const keys[] = { "tab 1 2 3 4", "enter", "esc", " e ", " p ",
                                        " r ",         " c ",   " / ", "+ -", " q " };
    for (size_t i = 0; TEST_ROW_NAMED(i, keys, keys[i]); i++) {
        assert_non_null(strstr(text, keys[i]));
    }
}

static void test_top_draw__any_size_will_do(void **state)
{
    (void)state;
    for (int page = PAGE_PANES; page <= PAGE_HELP; page++) {
        view.page = (enum top_page)page;
        look.lines = lines;
        look.line_count = sizeof(lines) / sizeof(lines[0]);
        look.wish = view.wish;
        for (int rows = 1; rows < 30; rows++) {
            for (int columns = 1; columns < 140; columns += 3) {
                draw(rows, columns);
            }
        }
    }
}

static void test_top_draw__a_picture_for_a_file_has_all_rows_and_no_keys(void **state)
{
    (void)state;
    view.still = true;
    int rows = view_rows_wanted(&view, &look);
    assert_int_equal(rows, 2 + 4 + 4 + 3 + 2 + 2);
    const char *text = draw(rows, 80);
    assert_null(strchr(text, '>'));
    assert_null(strstr(text, "quit"));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(row_of(text, rows - 1), "worker-2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_top_draw__all_panes_on_80_columns_and_24_rows),
        TEST(test_top_draw__more_room_is_used),
        TEST(test_top_draw__the_pane_in_focus_has_the_most_rows),
        TEST(test_top_draw__a_list_scrolls_with_what_is_chosen),
        TEST(test_top_draw__a_filter_leaves_what_has_it_in_its_name),
        TEST(test_top_draw__the_state_of_the_connection_is_shown),
        TEST(test_top_draw__before_the_first_look),
        TEST(test_top_draw__jobs_of_a_group),
        TEST(test_top_draw__the_details_of_a_job_are_wrapped_and_scroll),
        TEST(test_top_draw__help_names_every_key),
        TEST(test_top_draw__any_size_will_do),
        TEST(test_top_draw__a_picture_for_a_file_has_all_rows_and_no_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
