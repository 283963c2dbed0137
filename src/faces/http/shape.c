// SPDX-License-Identifier: MIT
#include "faces/http/shape.h"

#include <assert.h>

static const struct http_shape shared[] = {
    { "Options",
      "{backoff:string?,timeout:seconds?,lease:seconds?,result_ttl:seconds?,max_crashes:integer?,"
      "on_dependency_failure:string?}" },
    { "Lease",
      "{worker:string,token:integer,expires:moment,length:seconds?,grace:boolean,run_ends:moment?,"
      "pid:integer?}" },
    { "Run", "{worker:string?,popped:moment,started:moment?,pid:integer?}" },
    { "Failure", "{group:string,message:string,worker:string?,when:moment}" },
    { "Job",
      "{jid:string,klass:string,queue:string?,state:State,stage:string?,data:any,priority:integer,"
      "retries:integer,remaining:integer,attempts:integer,crashes:integer,domain:string?,"
      "tags:[string],tracked:boolean,created:moment,moved:moment,updated:moment,eta:moment?,"
      "scheduled:moment?,"
      "deadline:moment?,lease:Lease?,last_run:Run?,failure:Failure?,result:any,result_until:moment?"
      ","
      "progress:{fraction:number,message:string?}?,checkpoint:string?,depends:[string],"
      "dependents:[string],members:{done:integer,failed:integer},"
      "unique:{by:string,key:string?,held:boolean}?,spawned_from:string?,?data_size:integer,"
      "?data_cut:boolean,?result_cut:boolean}" },
    { "PoppedJob", "{jid:string,klass:string,queue:string,data:any,token:integer,expires:moment,"
                   "priority:integer,remaining:integer,attempts:integer,domain:string?,"
                   "checkpoint:string?,tags:[string]}" },
    { "JobPage", "{total:integer?,?jobs:[Job],?jids:[string],next:string?}" },
    { "HeldJobs", "{total:integer,?jobs:[Job],?jids:[string]}" },
    { "Worker", "{worker:string,seen:moment,running:integer,expired:integer,offline:boolean,"
                "host:string?,started:moment?,pid:integer?,done:integer,queues:[string],"
                "queue_count:integer}" },
    { "Queue", "{queue:string,waiting:integer,running:integer,stalled:integer,scheduled:integer,"
               "depends:integer,recurring:integer,listeners:integer,paused:boolean,"
               "paused_since:moment?,failed:integer,complete:integer,bytes:integer,age:seconds?,"
               "rates:RatesNow}" },
    { "RatesNow", "{put:number,popped:number,completed:number,failed:number,retried:number,"
                  "lost:number}" },
    { "Quantiles", "{p50:[seconds?],p90:[seconds?],p99:[seconds?],window:{count:integer,"
                   "p50:seconds?,p90:seconds?,p99:seconds?}}" },
    { "DayTimes", "{count:integer,mean:number,std:number,?histogram:[integer]}" },
    { "Series", "{count:integer,mean:number,std:number,histogram:[integer]}" },
    { "Times", "{count:integer,mean:seconds,max:seconds,p50:seconds,p90:seconds,p99:seconds,"
               "p999:seconds}" },
    { "Rates", "{1s:number,1m:number,15m:number}" },
    { "RecurringJob", "{jid:string,klass:string,queue:string,data:any,interval:seconds?,"
                      "cron:string?,zone:string?,next:moment?,count:integer,missed:string,"
                      "overlap:string,backlog:integer,priority:integer,retries:integer,"
                      "domain:string?,tags:[string],options:Options,paused:boolean,last:moment?,"
                      "?runs:[moment]}" },
    { "Operation",
      "{id:integer,act:string,dry_run:boolean,done:boolean,stopped:boolean,began:moment,"
      "looked_at:integer,matched:integer,changed:integer,as:integer?,executable:boolean,"
      "user:string?,to:string?,tags:[string],priority:integer?,filter:{queue:string?,"
      "klass:string?,group:string?,tagged:string?,worker:string?,domain:string?,states:[State],"
      "older:seconds?,newer:seconds?,jids:integer}}" },
    { "Search", "{id:integer,done:boolean,full:boolean,began:moment,looked_at:integer,"
                "total:integer,found:integer}" },
    { "Namespace", "{name:string,clock:string,qless:boolean,queues:integer,"
                   "clients_waiting:integer,jobs:{*:integer}}" },
    { "Task", "{class:string,args:any,id:integer,attempts:integer,state:string,lastError:string?,"
              "queuedAt:string,firstRunAt:string?,reservedAt:string?,lastRunAt:string?,"
              "firstScheduledFor:string,scheduledFor:string,lastRunBy:string?,priority:integer}" },
    { NULL, NULL },
};

static const struct http_shape answers[] = {
    { "Q.PUT", "string" },
    { "Q.REQUEUE", "string" },
    { "Q.PEEK", "[Job]" },
    { "Q.POP", "[PoppedJob]" },
    { "Q.TAKE", "PoppedJob" },
    { "Q.HELD", "PoppedJob" },
    { "Q.HEARTBEAT", "moment" },
    { "Q.COMPLETE", "State" },
    { "Q.RETRY", "integer" },
    { "Q.WAIT", "{state:string,result:any,group:string?,message:string?}" },
    { "Q.GET", "[Job?]" },
    { "Q.HISTORY", "[{when:moment,what:string,queue:string?,worker:string?,group:string?,"
                   "message:string?,data:any,until:moment?}]" },
    { "Q.LOGS", "[{when:moment,line:string}]" },
    { "Q.EXPLAIN", "{reason:string,sentence:string,state:State,earliest:moment?,until:moment?,"
                   "behind:integer,queue:string?,domain:string?,worker:string?,group:string?,"
                   "attempts:integer,blockers:[string],at_least:boolean,expires:moment?}" },
    { "Q.OPTIONS", "{given:Options,in_effect:Options}" },
    { "Q.KICK", "integer" },
    { "Q.CANCEL", "integer" },
    { "Q.TAG", "[string]" },
    { "Q.UNTAG", "[string]" },
    { "Q.TAGS", "[{tag:string,count:integer}]" },
    { "Q.TAGGED", "JobPage" },
    { "Q.TRACK", "boolean" },
    { "Q.UNTRACK", "boolean" },
    { "Q.TRACKED", "{total:integer,?jobs:[Job],?jids:[string],gone:[string]}" },
    { "Q.QUEUES", "{total:integer,queues:[Queue],next:string?}" },
    { "Q.QUEUE", "Queue" },
    { "Q.LENGTH", "integer" },
    { "Q.COUNT", "integer" },
    { "Q.PRIORITIES", "[{priority:integer,count:integer}]" },
    { "Q.JOBS", "JobPage" },
    { "Q.FIND", "Search" },
    { "Q.FINDS", "[Search]" },
    { "Q.FIND.GET", "{id:integer,done:boolean,full:boolean,began:moment,looked_at:integer,"
                    "total:integer,found:integer,?jobs:[Job?],?jids:[string]}" },
    { "Q.FAILURES", "{total:integer,failures:[{group:string,count:integer,first:moment,"
                    "last:moment,jid:string,klass:string,message:string}],next:string?}" },
    { "Q.FAILED", "JobPage" },
    { "Q.UNFAIL", "integer" },
    { "Q.STATS", "{retries:integer,lost_leases:integer,failures:integer,failed:integer,wait:Series,"
                 "run:Series}" },
    { "Q.TOTALS", "{jobs:{*:integer},queues:integer,paused:integer,workers:integer,"
                  "recurring:integer,failures:integer,bytes:integer,"
                  "oldest:{queue:string,age:seconds}?,rates:RatesNow,last_second:{*:integer}}" },
    { "Q.SERIES", "{step:integer,from:moment,count:integer,put:[integer],popped:[integer],"
                  "completed:[integer],failed:[integer],retried:[integer],lost:[integer],"
                  "depth:{*:[integer]},wait:Quantiles,run:Quantiles}" },
    { "Q.STATS.DAYS", "{days:[{queue:string,date:moment,retries:integer,lost_leases:integer,"
                      "failures:integer,failed:integer,wait:DayTimes,run:DayTimes}],"
                      "next:string?}" },
    { "Q.METRICS", "{latency:Times,runtime:Times,lifetime:Times,time_to_completion:Times,"
                   "time_to_failure:Times,attempts:{count:integer,mean:number,max:integer},"
                   "queued:Rates,run:Rates}" },
    { "Q.LANE", "{waiting:integer,running:integer,ready:moment?,rate:integer,period:seconds,"
                "burst:integer,concurrency:integer,weight:integer}" },
    { "Q.LANES", "{total:integer,lanes:[{domain:string?,waiting:integer,running:integer,"
                 "ready:moment?,rate:integer,period:seconds,burst:integer,tokens:integer?,"
                 "concurrency:integer,weight:integer}],next:string?}" },
    { "Q.EXPLAIN.QUEUE", "{reason:string,sentence:string,earliest:moment?,waiting:integer,"
                         "running:integer,scheduled:integer,depends:integer,listeners:integer,"
                         "paused:boolean}" },
    { "Q.RECUR.GET", "RecurringJob" },
    { "Q.RECUR.TAG", "[string]" },
    { "Q.RECUR.UNTAG", "[string]" },
    { "Q.RECUR.RUNS", "[moment]" },
    { "Q.RECURRING", "{total:integer,jobs:[RecurringJob],?next:string?}" },
    { "Q.RECUR.RUN", "string" },
    { "Q.CRON", "[moment]" },
    { "Q.ZONES", "[string]" },
    { "Q.WORKERS", "{total:integer,workers:[Worker]}" },
    { "Q.LISTENERS", "{total:integer,workers:[Worker]}" },
    { "Q.WORKER", "{running:HeldJobs,expired:integer,seen:moment?,started:moment?,host:string?,"
                  "offline:boolean,queues:[string]}" },
    { "Q.CONFIG.GET", "{*:string?}" },
    { "Q.LIMITS", "{total:integer,limits:[{queue:string?,domain:string?,rate:integer?,"
                  "period:seconds?,burst:integer?,concurrency:integer?,weight:integer?,"
                  "waiting:integer,running:integer,held:integer}],next:string?}" },
    { "Q.POLICIES", "[{scope:string,name:string,options:Options}]" },
    { "Q.PUSHES",
      "[{pattern:string,href:string,source:string,concurrency:integer,timeout:seconds,"
      "report_within:seconds,backoff:seconds,failures:integer,cooldown:seconds,fail_4xx:boolean,"
      "headers:[string],signed:boolean,old-secret:boolean,queues:[string],breaker:string,running:"
      "integer,"
      "waiting_for_report:integer,last_error:string?,last_error_at:moment?,"
      "next_try:moment?,counts:{*:integer}}]" },
    { "Q.BULK", "Operation" },
    { "Q.BULKS", "[Operation]" },
    { "Q.BULK.GET", "Operation" },
    { "Q.CHECK", "{broken:integer,repair:boolean,sentences:[string]}" },
    { "T.PUT", "Task" },
    { "T.GET", "Task" },
    { "T.RETRY", "Task" },
    { "T.COUNTS", "{*:integer}" },
    { "T.INVALID", "[{refusedAt:string,code:string,reason:string,sent:string,size:integer}]" },
    { "T.LIST", "{tasks:[Task],next:string?}" },
    { "Q.NAMESPACES", "[Namespace]" },
    { "Q.CLOCK", "{clock:string,time:moment?,host_time:moment,ahead:seconds,wall_offset:seconds,"
                 "step_pending:boolean}" },
    { "Q.CLOCK.REPAIR", "seconds" },
    { "Q.HELP", "string" },
    { "Q.BACKUP", "string" },
    { "Q.SERVER",
      "{version:string,time:moment,uptime:seconds,stopping:boolean,durability:string,"
      "store:{state:string,reason:string?,hint:string?},"
      "memory:{state:string,used:integer,limit:integer},"
      "connections:{open:integer,limit:integer,waiting:integer,listening:integer},"
      "namespaces:integer,inside:{process_id:integer,config_file:string?,resident_bytes:integer,"
      "store:{groups:integer,group_bytes:integer,syncs:integer,sync_max:seconds,"
      "groups_behind:integer,journal_bytes:integer,base_bytes:integer,base_live_bytes:integer,"
      "volume_free_bytes:integer},loop:{turns:integer,turns_cut:integer,p50:seconds,p99:seconds,"
      "max:seconds},commands:integer,errors:integer,input_bytes:integer,output_bytes:integer,"
      "connections_rejected:integer}?}" },
};

const struct http_shape *http_shape_at(size_t index)
{
    return &shared[index];
}

const char *http_shape_of(const char *command)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (strcmp(answers[i].name, command) == 0) {
            return answers[i].text;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The notation

// Reads a word of letters and digits.
static struct slice take_word(const char **at)
{
    const char *start = *at;
    while (**at && !strchr("{}[]:,?*", **at)) {
        (*at)++;
    }
    return slice_make(start, (size_t)(*at - start));
}

static void take_char(const char **at, char c)
{
    assert(**at == c); // shapes are constants
    (*at)++;
}

static void write_type(struct json_writer *writer, const char **at);

static void write_text(struct json_writer *writer, const char *key, struct slice text)
{
    json_write_key(writer, slice_from_cstr(key));
    json_write_string(writer, text);
}

// Skips a type, to find out whether '?' follows it.
static bool is_nullable(const char *at)
{
    int depth = 0;
    for (; *at && (depth || !strchr("?,}]", *at)); at++) {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return *at == '?';
}

static void write_word(struct json_writer *writer, struct slice word)
{
    static const struct {
        const char *word;
        const char *type;
        const char *description;
    } words[] = {
        { "seconds", "number", "a length of time, in seconds" },
        { "moment", "number", "a moment, in seconds since 1970" },
        { "any", NULL, "any JSON" },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_equal(word, slice_from_cstr(words[i].word))) {
            if (words[i].type) {
                write_text(writer, "type", slice_from_cstr(words[i].type));
            }
            write_text(writer, "description", slice_from_cstr(words[i].description));
            return;
        }
    }
    if (word.data[0] >= 'A' && word.data[0] <= 'Z') {
        char reference[64];
        int size =
            snprintf(reference, sizeof(reference), "#/components/schemas/%.*s", SLICE_PRINT(word));
        write_text(writer, "$ref", slice_make(reference, (size_t)size));
    } else {
        write_text(writer, "type", word);
    }
}

// Writes the names of the members that are always there; `at` is after '{'.
static void write_required(struct json_writer *writer, const char *at)
{
    json_write_key(writer, SLICE("required"));
    json_write_begin_array(writer);
    int depth = 0;
    bool name_next = true;
    for (; depth >= 0; at++) {
        if (name_next && *at != '?') {
            const char *end = at;
            json_write_string(writer, take_word(&end));
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        name_next = depth == 0 && *at == ',';
    }
    json_write_end_array(writer);
}

static void write_members(struct json_writer *writer, const char **at)
{
    const char *members = *at;
    json_write_key(writer, SLICE("properties"));
    json_write_begin_object(writer);
    while (**at != '}') {
        *at += **at == '?';
        json_write_key(writer, take_word(at));
        take_char(at, ':');
        write_type(writer, at);
        *at += **at == ',';
    }
    json_write_end_object(writer);
    write_required(writer, members);
    json_write_key(writer, SLICE("additionalProperties"));
    json_write_bool(writer, false);
}

static void write_object(struct json_writer *writer, const char **at)
{
    take_char(at, '{');
    write_text(writer, "type", SLICE("object"));
    if (**at == '*') {
        *at += strlen("*:");
        json_write_key(writer, SLICE("additionalProperties"));
        write_type(writer, at);
    } else {
        write_members(writer, at);
    }
    take_char(at, '}');
}

static void write_list(struct json_writer *writer, const char **at)
{
    take_char(at, '[');
    write_text(writer, "type", SLICE("array"));
    json_write_key(writer, SLICE("items"));
    write_type(writer, at);
    take_char(at, ']');
}

static void write_bare_type(struct json_writer *writer, const char **at)
{
    json_write_begin_object(writer);
    if (**at == '{') {
        write_object(writer, at);
    } else if (**at == '[') {
        write_list(writer, at);
    } else {
        write_word(writer, take_word(at));
    }
    json_write_end_object(writer);
}

static void write_type(struct json_writer *writer, const char **at)
{
    if (!is_nullable(*at)) {
        write_bare_type(writer, at);
        return;
    }
    json_write_begin_object(writer);
    json_write_key(writer, SLICE("anyOf"));
    json_write_begin_array(writer);
    write_bare_type(writer, at);
    take_char(at, '?');
    json_write_begin_object(writer);
    write_text(writer, "type", SLICE("null"));
    json_write_end_object(writer);
    json_write_end_array(writer);
    json_write_end_object(writer);
}

void http_shape_write(struct json_writer *writer, const char *shape)
{
    write_type(writer, &shape);
    assert(*shape == '\0');
}
