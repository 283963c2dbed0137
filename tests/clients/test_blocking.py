#!/usr/bin/python3
"""Commands that wait: for a job, in the order of arrival, woken by all that can bring one; and for a
job to finish."""

import sluiced


class Base(sluiced.TestCase):
    count = 0

    def setUp(self):
        # A namespace of its own for each test.
        Base.count += 1
        self.ns = f"ns{Base.count}"
        self.boss = self.client()

    def blocked(self, count=1):
        """Until so many connections wait; the server itself says when."""
        sluiced.until(lambda: f"blocked_clients:{count}\r\n" in self.boss.ask("INFO clients"))

    def popper(self, worker, request, waiting=1):
        """A client that waits in a pop, the `waiting`-th that does."""
        client = self.client()
        client.send("Q.POP", self.ns, worker, *request.split(" "))
        self.blocked(waiting)
        return client

    def put(self, jid, *more, queue="q"):
        self.boss.expect(("Q.PUT", self.ns, queue, "Send", "{}", "JID", jid, *more), f'"{jid}"')

    def got(self, client, *jids):
        reply = client.read()
        found = [part.split('"')[1] for part in reply.split('"jid", ')[1:]]
        self.assertEqual(found, list(jids), reply)


class Listeners(Base):
    """A worker listens to the queues that it pops from, until its connection is closed."""

    def listeners(self, queue="q"):
        reply = self.boss.ask(f"Q.LISTENERS {self.ns} {queue}")
        return [part.split('"')[1] for part in reply.split('"worker", ')[1:]]

    def test_a_worker_whose_connection_is_closed_listens_no_more(self):
        waits = self.popper("w1", "1 WAIT 60 q other")
        polls = self.client()
        polls.ask(f"Q.POP {self.ns} w2 1 q")
        self.assertEqual(self.listeners(), ["w1", "w2"])
        self.assertIn('"queues", ["other", "q"]', self.boss.ask(f"Q.WORKER {self.ns} w1"))
        self.assertIn('"host", "127.0.0.1"', self.boss.ask(f"Q.WORKER {self.ns} w1"))
        waits.close()
        sluiced.until(lambda: self.listeners() == ["w2"])
        polls.close()
        sluiced.until(lambda: self.listeners() == [])
        self.assertIn('"offline", :1', self.boss.ask(f"Q.WORKER {self.ns} w1"))

    def test_a_worker_with_two_connections_listens_until_both_are_closed(self):
        first, second = self.client(), self.client()
        for client in first, second:
            client.ask(f"Q.POP {self.ns} w 1 q")
        first.close()
        # It is closed for the server too when the server has one client less.
        sluiced.until(lambda: self.boss.ask("CLIENT LIST").count(" cmd=Q.POP") == 1)
        self.assertEqual(self.listeners(), ["w"])
        second.close()
        sluiced.until(lambda: self.listeners() == [])

    def test_a_worker_that_waits_longer_than_max_worker_age_listens(self):
        self.boss.expect(f"Q.CONFIG.SET {self.ns} max-worker-age 1", "+OK")
        waits = self.popper("w1", "1 WAIT 60 q")
        self.boss.ask(f"Q.POP {self.ns} w2 1 once")  # has the boss's connection
        began = float(self.boss.ask("TIME").split('"')[1])
        sluiced.until(lambda: float(self.boss.ask("TIME").split('"')[1]) >= began + 2)
        self.assertEqual(self.listeners(), ["w1"])
        self.put("a")
        self.got(waits, "a")

    def test_a_queue_that_a_worker_listens_to_is_listed_before_its_first_job(self):
        waits = self.popper("w", "1 WAIT 60 fresh")
        self.assertIn('"queue", "fresh"', self.boss.ask(f"Q.QUEUES {self.ns}"))
        waits.close()
        sluiced.until(lambda: '"fresh"' not in self.boss.ask(f"Q.QUEUES {self.ns}"))


class ClientClock(Base):
    """Nothing falls due by itself there, as in qless, where workers poll. Those who wait natively
    see what a worker that polls would see."""

    def setUp(self):
        super().setUp()
        self.boss.expect(f"Q.NAMESPACE.CREATE {self.ns} CLOCK client", "+OK")

    def test_a_scheduled_job_is_given_when_it_is_due(self):
        self.put("a", "DELAY", "0.3")
        self.got(self.popper("w", "1 WAIT 60 q"), "a")

    def test_a_job_that_is_scheduled_while_a_worker_waits_is_given_too(self):
        worker = self.popper("w", "1 WAIT 60 q")
        self.put("a", "DELAY", "0.3")
        self.got(worker, "a")

    def test_a_recurring_job_is_given(self):
        worker = self.popper("w", "1 WAIT 60 q")
        self.boss.expect(f"Q.RECUR {self.ns} r q Send {{}} INTERVAL 60 DELAY 0.3", "+OK")
        self.got(worker, "r-1")

    def test_lost_leases_are_given_after_their_grace(self):
        for option, value in ("heartbeat", 0.3), ("grace-period", 0.3):
            self.boss.expect(f"Q.CONFIG.SET {self.ns} {option} {value}", "+OK")
        for jid in "a", "b", "c":
            self.put(jid)
        self.boss.ask(f"Q.POP {self.ns} dead 3 q")
        self.boss.expect(f"Q.CONFIG.SET {self.ns} heartbeat 60", "+OK")
        waiting = [self.popper(f"w{i}", "1 WAIT 60 q", i) for i in (1, 2, 3)]
        for worker, jid in zip(waiting, ("a", "b", "c")):
            self.got(worker, jid)

    def test_counts_and_reasons_are_those_of_the_queue(self):
        self.boss.expect(f"Q.CONFIG.SET {self.ns} heartbeat 0.01", "+OK")
        self.put("a")
        self.boss.ask(f"Q.POP {self.ns} dead 1 q")
        sluiced.until(lambda: '"total", :1' in self.boss.ask(f"Q.JOBS {self.ns} expired q"))
        self.boss.expect(f"Q.COUNT {self.ns} STATE stalled", ":0")
        self.boss.expect(f"Q.COUNT {self.ns} STATE running QUEUE q", ":1")
        self.assertIn('"reason", "expired"', self.boss.ask(f"Q.EXPLAIN {self.ns} a"))


class Pops(Base):
    def test_a_job_that_is_there_is_given_at_once(self):
        self.put("a")
        self.boss.send("Q.POP", self.ns, "w", 1, "WAIT", 60, "q")
        self.got(self.boss, "a")

    def test_who_came_first_is_served_first(self):
        poppers = [self.popper(f"w{i}", "1 WAIT 60 q", i + 1) for i in range(5)]
        for i, popper in enumerate(poppers):
            self.put(f"job-{i}")
            self.got(popper, f"job-{i}")
        self.blocked(0)

    def test_as_many_are_woken_as_there_are_jobs(self):
        poppers = [self.popper(f"w{i}", "1 WAIT 60 q", i + 1) for i in range(4)]
        self.boss.expect(("Q.MPUT", self.ns, 5, "q", "Send", "{}", "JID", "a", 5, "q", "Send", "{}",
                          "JID", "b"), '["a", "b"]')
        self.got(poppers[0], "a")
        self.got(poppers[1], "b")
        self.blocked(2)
        self.boss.expect(("Q.MPUT", self.ns, 5, "q", "Send", "{}", "JID", "c", 5, "q", "Send", "{}",
                          "JID", "d"), '["c", "d"]')
        self.got(poppers[2], "c")
        self.got(poppers[3], "d")

    def test_several_queues_in_the_order_of_arrival(self):
        both = self.popper("w1", "1 WAIT 60 a b")
        other = self.popper("w2", "1 WAIT 60 b", 2)
        self.put("x", queue="b")
        self.got(both, "x")
        self.put("y", queue="b")
        self.got(other, "y")
        self.put("z", queue="a")
        self.boss.send("Q.POP", self.ns, "w", 1, "a")
        self.got(self.boss, "z")

    def test_a_count_takes_what_there_is(self):
        popper = self.popper("w1", "10 WAIT 60 q")
        self.boss.expect(("Q.MPUT", self.ns, 5, "q", "Send", "{}", "JID", "a", 5, "q", "Send", "{}",
                          "JID", "b"), '["a", "b"]')
        self.got(popper, "a", "b")

    def test_the_time_is_over(self):
        popper = self.client()
        popper.expect(f"Q.POP {self.ns} w1 1 WAIT 0.05 q", "[]")
        self.blocked(0)
        self.put("a")
        popper.send("Q.POP", self.ns, "w1", 1, "q")
        self.got(popper, "a")

    def test_a_schedule_that_is_due_wakes(self):
        popper = self.popper("w1", "1 WAIT 60 q")
        self.put("a", "DELAY", "0.1")
        self.got(popper, "a")

    def test_an_option_behind_the_queues_is_refused(self):
        self.boss.expect(f"Q.POP {self.ns} w 1 mail wait 1",
                         "-INVALID Q.POP: options stand before the list, and WAIT is one; a queue "
                         "of that name is written behind --")
        self.boss.expect(f"Q.PUT {self.ns} WAIT Send {{}} JID ann", '"ann"')
        self.assertIn('"ann"', self.boss.ask(f"Q.POP {self.ns} w 1 -- mail WAIT"))

    def test_a_lost_lease_wakes(self):
        self.boss.expect(f"Q.CONFIG.SET {self.ns} grace-period 0", "+OK")
        self.put("a")
        self.boss.send("Q.POP", self.ns, "w", 1, "q")
        self.got(self.boss, "a")
        popper = self.popper("w1", "1 WAIT 60 q")
        # Only now, so that a client waits when it is lost.
        self.boss.expect(f"Q.CONFIG.SET {self.ns} heartbeat 0.1", "+OK")
        self.boss.ask(f"Q.HEARTBEAT {self.ns} a w")
        self.got(popper, "a")

    def test_a_freed_place_wakes(self):
        self.boss.expect(f"Q.CONFIG.SET {self.ns} q-max-concurrency 1", "+OK")
        self.put("a")
        self.put("b")
        self.boss.send("Q.POP", self.ns, "w", 2, "q")
        self.got(self.boss, "a")
        popper = self.popper("w1", "1 WAIT 60 q")
        self.boss.expect(f"Q.COMPLETE {self.ns} a w", '"complete"')
        self.got(popper, "b")

    def test_a_rate_that_allows_it_again_wakes(self):
        self.boss.expect(f"Q.LIMIT.SET {self.ns} QUEUE q RATE 1 PERIOD 1 BURST 1", "+OK")
        self.put("a")
        self.put("b")
        self.boss.send("Q.POP", self.ns, "w", 2, "q")
        self.got(self.boss, "a")
        # Nearly always it has to wait; should this have taken a second, it need not.
        self.boss.send("Q.POP", self.ns, "w1", 1, "WAIT", 60, "q")
        self.got(self.boss, "b")

    def test_unpause_wakes(self):
        self.put("a")
        self.boss.expect(f"Q.PAUSE {self.ns} q", "+OK")
        popper = self.popper("w1", "1 WAIT 60 q")
        self.boss.expect(f"Q.UNPAUSE {self.ns} q", "+OK")
        self.got(popper, "a")

    def test_a_dependency_that_completes_wakes(self):
        self.put("a", queue="other")
        self.put("b", "DEPENDS", "a")
        self.boss.send("Q.POP", self.ns, "w", 1, "other")
        self.got(self.boss, "a")
        popper = self.popper("w1", "1 WAIT 60 q")
        self.boss.expect(f"Q.COMPLETE {self.ns} a w", '"complete"')
        self.got(popper, "b")

    def test_who_goes_away_leaves_the_line(self):
        first = self.popper("w1", "1 WAIT 60 q")
        second = self.popper("w2", "1 WAIT 60 q", 2)
        first.close()
        self.blocked(1)
        self.put("a")
        self.got(second, "a")

    def test_requests_behind_one_that_waits_wait_too(self):
        popper = self.popper("w1", "1 WAIT 60 q")
        popper.send("PING")
        popper.send("Q.POP", self.ns, "w1", 1, "WAIT", "60", "q")
        popper.send("PING")
        self.put("a")
        self.got(popper, "a")
        popper.hear("+PONG")
        self.blocked(1)
        self.put("b")
        self.got(popper, "b")
        popper.hear("+PONG")

    def test_in_a_transaction_nothing_waits(self):
        self.boss.expect("MULTI", "+OK")
        self.boss.expect(f"Q.POP {self.ns} w1 1 WAIT 60 q", "+QUEUED")
        self.boss.expect("EXEC", "[[]]")

    def test_a_namespace_that_is_deleted_ends_the_wait(self):
        popper = self.popper("w1", "1 WAIT 60 q")
        self.boss.expect(f"Q.NAMESPACE.DELETE {self.ns}", "+OK")
        popper.hear("-NOT_FOUND the namespace ...")
        popper.expect("PING", "+PONG")


class Results(Base):
    def waiter(self, jid, waiting=1):
        client = self.client(3)
        client.send("Q.WAIT", self.ns, jid)
        self.blocked(waiting)
        return client

    def test_a_result_is_waited_for(self):
        self.put("a")
        first = self.waiter("a")
        second = self.waiter("a", 2)
        self.boss.send("Q.POP", self.ns, "w", 1, "q")
        self.got(self.boss, "a")
        self.boss.expect(("Q.COMPLETE", self.ns, "a", "w", "RESULT", "[1]"), '"complete"')
        first.hear('{"state": "complete", "result": "[1]", "group": _, "message": _}')
        second.hear('{"state": "complete", "result": "[1]", "group": _, "message": _}')
        third = self.client(3)
        third.expect(f"Q.WAIT {self.ns} a", '{"state": "complete", "result": "[1]", "group": _, "message": _}')

    def test_waiters_get_the_result_of_a_job_that_is_not_kept(self):
        self.boss.expect(f"Q.CONFIG.SET {self.ns} jobs-history-count 0", "+OK")
        for jid in ("a", "b"):
            self.put(jid)
        waiters = [self.waiter("a", 1), self.waiter("a", 2), self.waiter("b", 3)]
        self.boss.send("Q.POP", self.ns, "w", 2, "q")
        self.got(self.boss, "a", "b")
        self.boss.expect(("Q.MCOMPLETE", self.ns, 4, "a", "w", "RESULT", "[1]",
                          4, "b", "w", "RESULT", "[2]"), '["complete", "complete"]')
        for waiter, result in zip(waiters, ("[1]", "[1]", "[2]")):
            waiter.hear('{"state": "complete", "result": "%s", "group": _, "message": _}' % result)
        self.boss.expect(f"Q.GET {self.ns} a", "[nil]")

    def test_a_failure_ends_the_wait(self):
        self.put("a")
        waiter = self.waiter("a")
        self.boss.send("Q.POP", self.ns, "w", 1, "q")
        self.got(self.boss, "a")
        self.boss.expect(("Q.FAIL", self.ns, "a", "w", "group", "words"), "+OK")
        waiter.hear('{"state": "failed", "result": _, "group": "group", "message": "words"}')

    def test_a_cancel_ends_the_wait(self):
        self.put("a")
        waiter = self.waiter("a")
        self.boss.expect(f"Q.CANCEL {self.ns} a", ":1")
        waiter.hear('{"state": "canceled", "result": _, "group": _, "message": _}')

    def test_the_time_of_a_wait_is_over(self):
        self.put("a")
        client = self.client(3)
        client.expect(f"Q.WAIT {self.ns} a TIMEOUT 0.05", "_")
        client.expect(f"Q.WAIT {self.ns} a TIMEOUT 0.05", "_")

    def test_what_is_not_there_is_not_waited_for(self):
        self.boss.expect(f"Q.WAIT {self.ns} nothing", '-NOT_FOUND ...')

    def test_a_waiter_that_goes_away_is_forgotten(self):
        self.put("a")
        waiter = self.waiter("a")
        waiter.close()
        self.blocked(0)
        self.boss.expect(f"Q.CANCEL {self.ns} a", ":1")


if __name__ == "__main__":
    sluiced.main()
