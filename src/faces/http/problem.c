// SPDX-License-Identifier: MIT
#include "faces/http/problem.h"

#include "faces/http/member.h"
#include "wire/http_reply.h"

unsigned http_problem_status(enum status status)
{
    static const unsigned statuses[STATUS_COUNT] = {
        [STATUS_OK] = 200,        [STATUS_NO_MEMORY] = 503,   [STATUS_INVALID] = 400,
        [STATUS_TOO_LARGE] = 413, [STATUS_NOT_FOUND] = 404,   [STATUS_EXISTS] = 409,
        [STATUS_STATE] = 409,     [STATUS_STALE] = 409,       [STATUS_DENIED] = 403,
        [STATUS_BUSY] = 503,      [STATUS_UNSUPPORTED] = 501, [STATUS_CORRUPT] = 500,
        [STATUS_IO] = 503,        [STATUS_NO_SPACE] = 507,
    };
    return statuses[status];
}

unsigned http_problem_status_of(const struct error *error)
{
    return error->of_reply ? 422 : http_problem_status(error->status);
}

// Removes "Q.PUT: " from the front of a message; false if it does not begin with it.
static bool take_command(struct slice *sentence, const struct command *command)
{
    struct slice name = slice_from_cstr(command->name);
    struct slice rest = slice_sub(*sentence, name.size, SIZE_MAX);
    bool named = slice_starts_with(*sentence, name) && slice_starts_with(rest, SLICE(": "));
    if (named) {
        *sentence = slice_sub(rest, 2, SIZE_MAX);
    }
    return named;
}

// The argument whose name is the first word of a message, or NULL.
static const struct argument *first_word(struct slice sentence, const struct command *command)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        struct slice name = slice_from_cstr(command->arguments[i].name);
        if (slice_starts_with(sentence, name) && sentence.size > name.size &&
            sentence.data[name.size] == ' ') {
            return &command->arguments[i];
        }
    }
    return NULL;
}

// Writes the message, and returns the member that it is about.
static void write_detail(struct json_writer *writer, const struct http_problem *problem,
                         struct http_member *member)
{
    struct slice sentence = slice_from_cstr(error_sentence(problem->error));
    const struct argument *argument = NULL;
    if (problem->command && take_command(&sentence, problem->command)) {
        argument = first_word(sentence, problem->command);
    }
    json_write_key(writer, SLICE("detail"));
    if (!argument) {
        json_write_string(writer, sentence);
        return;
    }
    char text[ERROR_DETAIL_SIZE + HTTP_MEMBER_SIZE_MAX];
    struct slice rest = slice_sub(sentence, strlen(argument->name), SIZE_MAX);
    http_member_of(argument, member);
    int size =
        snprintf(text, sizeof(text), "%.*s%.*s", SLICE_PRINT(member->name), SLICE_PRINT(rest));
    json_write_string(writer, slice_make(text, (size_t)size));
}

void http_problem_write(struct json_writer *writer, const struct http_problem *problem)
{
    enum status code = problem->error->status;
    unsigned status = problem->status ? problem->status : http_problem_status_of(problem->error);
    struct http_member member = { .name = SLICE_EMPTY };
    json_write_begin_object(writer);
    json_write_key(writer, SLICE("type"));
    json_write_string(writer, SLICE("about:blank"));
    json_write_key(writer, SLICE("title"));
    json_write_string(writer, slice_from_cstr(http_status_phrase(status)));
    json_write_key(writer, SLICE("status"));
    json_write_uint(writer, status);
    json_write_key(writer, SLICE("code"));
    json_write_string(writer, slice_from_cstr(status_name(code)));
    write_detail(writer, problem, &member);
    struct slice field = problem->field.size ? problem->field : member.name;
    if (field.size) {
        json_write_key(writer, SLICE("field"));
        json_write_string(writer, field);
    }
    json_write_end_object(writer);
}
