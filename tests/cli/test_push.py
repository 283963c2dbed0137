#!/usr/bin/python3
"""Where the server pushes jobs to, as the tool says it: docs/push.md. What is pushed is not looked at
here; no server listens at these addresses, and nothing is put."""

import tool

HREF = "https://jobs.example.com/backfill"


class Push(tool.ServerCase):
    def test_there_are_none_at_first(self):
        self.good("namespaces", "create", self._testMethodName)
        done = self.run_tool("push")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(self.run_tool("push", "list", "--json").stdout, "")

    def test_one_is_set_shown_changed_and_unset(self):
        self.says(f"set Backfill, {HREF}\n", "push", "set", "Backfill", HREF, "--concurrency", "20")
        self.assertRegex(tool.shape(self.good("push")),
                         rf"^PATTERN  HREF  CONCURRENCY .*\nBackfill  {HREF}  20  0  closed  0  0  0")
        self.good("push", "set", "Backfill", HREF, "-c", "5", "--request-timeout", "10", "--fail-4xx",
                  "--header", "X-Key: 1", "--secret", "hidden from everybody", "--queue", "mail,films")
        push, = self.lines("push")
        self.assertEqual({key: push[key] for key in ("concurrency", "timeout", "fail_4xx", "headers",
                                                     "signed", "queues", "source")},
                         {"concurrency": 5, "timeout": 10, "fail_4xx": True, "headers": ["X-Key"],
                          "signed": True, "queues": ["mail", "films"], "source": "command"})
        self.says("unset Backfill\n", "push", "unset", "Backfill")
        self.assertEqual(self.run_tool("push", "--json").stdout, "")

    def test_they_belong_to_their_namespace(self):
        self.good("push", "set", "Backfill", HREF)
        self.assertEqual([push["pattern"] for push in self.lines("push")], ["Backfill"])
        self.url += "-other"
        self.good("namespaces", "create", self._testMethodName + "-other")
        self.assertEqual(self.run_tool("push", "--json").stdout, "")

    def test_what_is_refused(self):
        for act in ("unset", "try"):
            self.refused(3, 'there is no push of "Nothing"', "push", act, "Nothing")
        done = self.run_tool("push", "set", "Backfill", "ftp://example.com")
        self.assertEqual((done.returncode, done.stdout), (1, ""))


class File(tool.FileCase):
    def test_a_folder_pushes_nothing_and_says_so(self):
        self.good("put", "mail", "Send", "{}")
        for name, words in (("Q.PUSHES", ()), ("Q.PUSH.SET", ("set", "Backfill", HREF)),
                            ("Q.PUSH.UNSET", ("unset", "Backfill")), ("Q.PUSH.TRY", ("try", "Backfill"))):
            self.refused(1, f"{name} needs a server: it is sluiced that pushes jobs", "push", *words)


if __name__ == "__main__":
    tool.main()
