// SPDX-License-Identifier: MIT
// hiredis, which many other libraries are made of. It is started with the server's port.
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed, count;

static void check(int good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, what);
    failed |= !good;
}

static redisReply *ask(redisContext *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    if (!reply) {
        printf("Bail out! %s\n", context->errstr);
        exit(EXIT_FAILURE);
    }
    return reply;
}

static int is(const redisReply *reply, int type, const char *text)
{
    return reply->type == type && strcmp(reply->str, text) == 0;
}

static void test_replies(redisContext *context)
{
    redisReply *reply = ask(context, "PING");
    check(is(reply, REDIS_REPLY_STATUS, "PONG"), "a status");
    freeReplyObject(reply);

    reply = ask(context, "Q.PUT app mail Send %s JID %s", "{}", "bob");
    check(is(reply, REDIS_REPLY_STRING, "bob"), "a string");
    freeReplyObject(reply);

    reply = ask(context, "Q.POP app w1 1 mail");
    check(reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
              reply->element[0]->type == REDIS_REPLY_ARRAY &&
              is(reply->element[0]->element[1], REDIS_REPLY_STRING, "bob"),
          "arrays in one another");
    freeReplyObject(reply);

    reply = ask(context, "CLIENT GETNAME");
    check(reply->type == REDIS_REPLY_NIL, "nothing");
    freeReplyObject(reply);

    reply = ask(context, "DBSIZE");
    check(reply->type == REDIS_REPLY_INTEGER && reply->integer == 1, "an integer");
    freeReplyObject(reply);

    reply = ask(context, "Q.COMPLETE app nobody w1");
    check(reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOT_FOUND ", 10) == 0,
          "an error");
    freeReplyObject(reply);
}

static void test_pipeline(redisContext *context)
{
    enum {
        REQUESTS = 1000,
    };
    for (int i = 0; i < REQUESTS; i++) {
        redisAppendCommand(context, "ECHO %d", i);
    }
    int good = 1;
    for (int i = 0; i < REQUESTS; i++) {
        redisReply *reply = NULL;
        char wanted[16];
        (void)snprintf(wanted, sizeof(wanted), "%d", i);
        good = good && redisGetReply(context, (void **)&reply) == REDIS_OK &&
               is(reply, REDIS_REPLY_STRING, wanted);
        freeReplyObject(reply);
    }
    check(good, "many requests before the first reply is read");
}

static void test_messages(redisContext *context, redisContext *other)
{
    freeReplyObject(ask(context, "SUBSCRIBE news"));
    redisReply *reply = ask(other, "PUBLISH news hello");
    check(reply->type == REDIS_REPLY_INTEGER && reply->integer == 1, "a message is published");
    freeReplyObject(reply);
    check(redisGetReply(context, (void **)&reply) == REDIS_OK && reply->elements == 3 &&
              is(reply->element[2], REDIS_REPLY_STRING, "hello"),
          "and heard");
    freeReplyObject(reply);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return EXIT_FAILURE;
    }
    const struct timeval limit = { 60, 0 };
    int port = (int)strtol(argv[1], NULL, 10);
    redisContext *context = redisConnectWithTimeout("127.0.0.1", port, limit);
    redisContext *other = redisConnectWithTimeout("127.0.0.1", port, limit);
    check(context && other && !context->err && !other->err, "it connects");
    if (failed) {
        return EXIT_FAILURE;
    }
    test_replies(context);
    test_pipeline(context);
    test_messages(context, other);
    redisFree(context);
    redisFree(other);
    printf("1..%d\n", count);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
