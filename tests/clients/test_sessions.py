#!/usr/bin/python3
"""The dashboard's files, logging in from a page, and what a session's cookie is good for."""

import gzip
import http.client
import json
import re
import socket
import unittest

import sluiced

USERS = ("--user", "ann secret *:admin", "--user", "bob hidden app:read")
OWN = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "X-Sluice": "1"}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Page:
    """What a browser with the dashboard sends: it keeps cookies, and says where it is."""

    def __init__(self, server, host=None):
        self.server = server
        self.host = host or f"127.0.0.1:{server.http_port}"
        self.cookies = {}
        self.connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=sluiced.LIMIT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, body=None, **headers):
        headers = {**OWN, "Host": self.host, **{name.replace("_", "-"): text for name, text in headers.items()}}
        headers = {name: text for name, text in headers.items() if text is not None}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers = {"Content-Type": "application/json", **headers}
        self.connection.request(method, path, body, headers)
        answer = Answer(self.connection.getresponse())
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
            if "Max-Age=0" in cookie:
                del self.cookies[name]
        return answer

    def log_in(self, user="ann", password="secret", **headers):
        return self.ask("POST", "/v1/session", {"user": user, "password": password}, **headers)

    def user(self):
        answer = self.ask("GET", "/v1/whoami")
        return answer.json()["user"] if answer.status == 200 else answer.status

    def put(self, **headers):
        return self.ask("POST", "/v1/ns/app/queues/q/jobs", {"klass": "K", "data": 1}, **headers).status


class Assets(unittest.TestCase):
    def test_the_page_and_its_files_need_no_login_and_can_be_kept(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            answer = page.ask("GET", "/")
            self.assertEqual((answer.status, answer.headers["Cache-Control"]), (200, "no-cache"))
            paths = re.findall(r'(?:src|href)="(assets/[^"]+)"', answer.body.decode())
            self.assertTrue(paths, answer.body)
            for path in paths:
                with self.subTest(path):
                    plain = page.ask("GET", "/" + path)
                    packed = page.ask("GET", "/" + path, Accept_Encoding="gzip")
                    self.assertEqual((plain.status, packed.status), (200, 200))
                    self.assertEqual(packed.headers["Content-Encoding"], "gzip")
                    self.assertEqual(gzip.decompress(packed.body), plain.body)
                    self.assertIn("immutable", plain.headers["Cache-Control"])
                    self.assertEqual(plain.headers["X-Content-Type-Options"], "nosniff")
                    head = page.ask("HEAD", "/" + path)
                    self.assertEqual((head.status, int(head.headers["Content-Length"])), (200, len(plain.body)))
                    known = page.ask("GET", "/" + path, If_None_Match=plain.headers["ETag"])
                    self.assertEqual((known.status, known.body), (304, b""))

    def test_a_browser_is_told_what_the_page_may_do(self):
        with sluiced.Server() as server, Page(server) as page:
            answer = page.ask("GET", "/")
            policy = dict(part.strip().split(" ", 1)
                          for part in answer.headers["Content-Security-Policy"].split(";"))
            self.assertEqual(policy["default-src"], "'none'")
            self.assertEqual(policy["script-src"], "'self'")
            self.assertEqual(policy["frame-ancestors"], "'none'")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(answer.headers["Cross-Origin-Opener-Policy"], "same-origin")

    def test_other_methods_and_unknown_files_are_refused(self):
        with sluiced.Server() as server, Page(server) as page:
            answer = page.ask("POST", "/", {})
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"))
            for path in "/assets/no.js", "/assets/", "/assets/../v1/ns", "/assets/%2e%2e/x":
                self.assertIn(page.ask("GET", path).status, (400, 404), path)

    def test_it_can_be_turned_off(self):
        with sluiced.Server("--dashboard", "no") as server, Page(server) as page:
            self.assertEqual(page.ask("GET", "/").status, 404)
            self.assertFalse([line for line in server.log if "dashboard" in line])
        with sluiced.Server() as server:
            server.hear(f"dashboard=http://127.0.0.1:{server.http_port}/")


class Sessions(unittest.TestCase):
    def test_a_session_stands_for_the_user_until_it_ends(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            self.assertEqual(page.user(), 401)
            answer = page.log_in()
            self.assertEqual((answer.status, answer.body), (204, b""))
            cookie = answer.headers["Set-Cookie"]
            self.assertRegex(cookie, rf"^sluice_{server.http_port}=[0-9a-f]{{64}}; HttpOnly; SameSite=Strict$")
            self.assertEqual(page.user(), "ann")
            self.assertEqual(page.put(), 201)
            with Page(server) as other:
                other.cookies = dict(page.cookies)
                self.assertEqual(other.user(), "ann")
                self.assertEqual(page.ask("DELETE", "/v1/session").status, 204)
                self.assertEqual(page.cookies, {})
                self.assertEqual(other.user(), 401)
                self.assertIn("ended", other.ask("GET", "/v1/ns").json()["detail"])

    def test_wrong_passwords_are_refused_and_begin_nothing(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            for user, password in ("ann", "wrong"), ("eve", "secret"), ("", "secret"), ("a" * 400, "b" * 900):
                answer = page.log_in(user, password)
                self.assertEqual(answer.status, 401, user)
                self.assertNotIn("Set-Cookie", answer.headers)
            self.assertEqual(page.user(), 401)

    def test_repeated_failures_are_rate_limited_as_other_logins_are(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            statuses = [page.log_in("ann", "wrong").status for _ in range(7)]
            self.assertEqual(statuses[:5], [401] * 5)
            self.assertEqual(statuses[6], 429)
            self.assertEqual(page.log_in("ann", "secret").status, 429)
            self.assertEqual(page.log_in("bob", "hidden").status, 204)

    def test_what_is_no_login_is_refused(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            for body, status in (
                    ("", 400), ("[]", 400), ("{}", 400), ('{"user":"ann"}', 400), ('{"password":1}', 400),
                    ('{"user":["ann"],"password":"secret"}', 400), ('{"user":"ann","password":"secret","x":1}', 400),
                    ('{"password":"' + "x" * 2000 + '"}', 400), ('{"password":"' + "x" * 5000 + '"}', 413),
                    ("{", 400)):
                with self.subTest(body[:60]):
                    answer = page.ask("POST", "/v1/session", body, Content_Type="application/json")
                    self.assertEqual(answer.status, status, answer.body)
                    page.connection.close()
            plain = page.ask("POST", "/v1/session", '{"password":"x"}', Content_Type="text/plain")
            self.assertEqual(plain.status, 415)
            self.assertEqual(page.ask("GET", "/v1/session").status, 401)

    def test_a_body_without_a_known_size_is_refused(self):
        with sluiced.Server(*USERS) as server, \
                socket.create_connection(("127.0.0.1", server.http_port), sluiced.LIMIT_S) as raw:
            raw.sendall(b"POST /v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.assertIn(b" 413 ", raw.makefile("rb").readline())

    def test_several_logins_that_wait_are_all_decided(self):
        with sluiced.Server(*USERS) as server:
            pages = [Page(server) for _ in range(8)]
            body = json.dumps({"user": "ann", "password": "secret"})
            for page in pages:
                page.connection.request("POST", "/v1/session", body, {**OWN, "Content-Type": "application/json"})
            tokens = {Answer(page.connection.getresponse()).headers["Set-Cookie"] for page in pages}
            self.assertEqual(len(tokens), len(pages))
            for page in pages:
                page.connection.close()

    def test_a_client_that_goes_away_while_it_logs_in_harms_nothing(self):
        with sluiced.Server(*USERS) as server, Page(server) as page:
            for _ in range(5):
                with Page(server) as other:
                    other.connection.request("POST", "/v1/session", '{"user":"ann","password":"secret"}',
                                             {**OWN, "Content-Type": "application/json"})
            self.assertEqual(page.log_in().status, 204)

    def test_rights_are_those_of_the_user(self):
        with sluiced.Server(*USERS) as server, Page(server) as ann, Page(server) as bob:
            ann.log_in()
            self.assertEqual(ann.put(), 201)
            bob.log_in("bob", "hidden")
            self.assertEqual(bob.ask("GET", "/v1/whoami").json()["rights"], ["app:read"])
            self.assertEqual(bob.ask("GET", "/v1/ns/app/queues").status, 200)
            self.assertEqual(bob.put(), 403)
            self.assertEqual(bob.ask("GET", "/v1/ns/other/queues").status, 403)

    def test_sessions_end_with_their_user_or_its_password(self):
        with sluiced.Server(*USERS) as server, Page(server) as ann, Page(server) as eve:
            ann.log_in()
            for change in ("removed", "password"):
                with self.subTest(change):
                    set_up = {"password": "first", "rights": ["app:read"]}
                    self.assertEqual(ann.ask("PUT", "/v1/users/eve", set_up).status, 204)
                    self.assertEqual(eve.log_in("eve", "first").status, 204)
                    self.assertEqual(eve.user(), "eve")
                    if change == "removed":
                        self.assertEqual(ann.ask("DELETE", "/v1/users/eve").status, 204)
                    else:
                        set_up["password"] = "second"
                        self.assertEqual(ann.ask("PUT", "/v1/users/eve", set_up).status, 204)
                    eve.connection.close()
                    self.assertEqual(eve.user(), 401)

    def test_a_restart_ends_all_sessions(self):
        with sluiced.Server(*USERS) as server:
            with Page(server) as page:
                page.log_in()
                cookies = page.cookies
            server.restart()
            with Page(server) as page:
                page.cookies = {f"sluice_{server.http_port}": value for value in cookies.values()}
                self.assertEqual(page.user(), 401)

    def test_the_number_of_sessions_is_limited(self):
        with sluiced.Server(*USERS, "--max-sessions", "2") as server:
            pages = [Page(server) for _ in range(3)]
            for page in pages:
                self.assertEqual(page.log_in().status, 204)
            self.assertEqual([page.user() for page in pages], [401, "ann", "ann"])
            for page in pages:
                page.connection.close()

    def test_a_session_that_is_used_ends_when_it_is_too_old(self):
        with sluiced.Server(*USERS, "--session-timeout", "1s") as server, Page(server) as page:
            self.assertEqual(page.log_in().status, 204)
            sluiced.until(lambda: page.user() == 401)

    def test_a_stream_ends_with_its_session(self):
        with sluiced.Server(*USERS) as server, Page(server) as page, Page(server) as stream:
            page.log_in()
            page.put()
            stream.cookies = page.cookies
            stream.connection.request("GET", "/v1/ns/app/events", headers={
                **OWN, "Host": stream.host,
                "Cookie": "; ".join(f"{name}={value}" for name, value in page.cookies.items())})
            response = stream.connection.getresponse()
            self.assertEqual(response.status, 200)
            page.ask("DELETE", "/v1/session")
            while response.readline():
                pass

    def test_without_users_there_is_nothing_to_log_in_to(self):
        with sluiced.Server() as server, Page(server) as page:
            self.assertEqual(page.log_in().status, 409)
            self.assertEqual(page.ask("GET", "/v1/whoami").json()["user"], None)
            self.assertEqual(page.ask("DELETE", "/v1/session").status, 204)


class OtherPages(unittest.TestCase):
    """A browser adds the cookie to what any page makes it send."""

    def setUp(self):
        self.server = self.enterContext(sluiced.Server(*USERS))
        self.page = self.enterContext(Page(self.server))
        self.page.log_in()

    def check(self, status, method="POST", **headers):
        path = "/v1/ns/app/queues/q/jobs" if method == "POST" else "/v1/whoami"
        body = {"klass": "K", "data": 1} if method == "POST" else None
        answer = self.page.ask(method, path, body, **headers)
        self.assertEqual(answer.status, status, (method, headers, answer.body))
        self.page.connection.close()

    def test_a_request_that_changes_something_needs_a_header_of_its_own(self):
        self.check(403, X_Sluice=None)
        self.check(403, X_Sluice=None, Sec_Fetch_Site=None)
        self.check(200, "GET", X_Sluice=None)
        self.check(201)

    def test_pages_of_other_sites_are_refused(self):
        for site in "cross-site", "same-site", "none", "nonsense":
            self.check(403, Sec_Fetch_Site=site)
        for site in "cross-site", "same-site":
            self.check(403, "GET", Sec_Fetch_Site=site)
        self.check(200, "GET", Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate")
        for origin in "https://evil.example", "null", f"http://localhost:{self.server.http_port}":
            self.check(403, Origin=origin, Sec_Fetch_Site=None)
            self.check(403, "GET", Origin=origin, Sec_Fetch_Site=None)
        self.check(201, Origin="http://" + self.page.host)
        self.check(201, Origin="http://" + self.page.host, Sec_Fetch_Site=None)

    def test_behind_a_proxy_that_changes_host_the_browser_says_where_it_is(self):
        self.check(201, Origin="https://ops.example")

    def test_a_cookie_cannot_be_made_by_logging_in_from_elsewhere(self):
        for headers in ({"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
                        {"Origin": None, "Sec_Fetch_Site": "cross-site"},
                        {"Origin": "https://evil.example", "Sec_Fetch_Site": None}):
            with Page(self.server) as other:
                self.assertEqual(other.log_in(**headers).status, 403, headers)

    def test_listed_origins_may_ask_but_not_by_the_cookie(self):
        with sluiced.Server(*USERS, "--http-origins", "https://ops.example") as server, Page(server) as page:
            page.log_in()
            for site in "same-site", "cross-site", None:
                answer = page.ask("GET", "/v1/whoami", Origin="https://ops.example", Sec_Fetch_Site=site)
                self.assertEqual(answer.status, 403)
                self.assertNotIn("Access-Control-Allow-Credentials", answer.headers)
            page.cookies = {}
            answer = page.ask("GET", "/v1/whoami", Origin="https://ops.example", Sec_Fetch_Site="cross-site",
                              Authorization="Bearer ann:secret")
            self.assertEqual(answer.status, 200)

    def test_open_servers_refuse_what_other_pages_load(self):
        with sluiced.Server() as server, Page(server) as page:
            for mode in "no-cors", "cors":
                answer = page.ask("GET", "/v1/ns", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode=mode)
                self.assertEqual(answer.status, 403)
            answer = page.ask("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
            self.assertEqual(answer.status, 200)
            page.host = "evil.example"
            self.assertEqual(page.ask("GET", "/v1/ns").status, 403)

    def test_the_cookie_is_secure_where_the_page_is(self):
        with Page(self.server, "ops.example") as other:
            cookie = other.log_in(Origin="https://ops.example").headers["Set-Cookie"]
            self.assertRegex(cookie, r"^sluice=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Secure$")

    def test_other_cookies_and_several_of_the_name_do_no_harm(self):
        name, value = self.page.cookies.popitem()
        for cookies in (f"a=b; {name}={value}", f"{name}=stale; {name}={value}; c", f"{name}={value};{name}=",
                        f" ;;=; {name}={value}"):
            self.page.cookies = {}
            self.check(200, "GET", Cookie=cookies)
        for cookies in ("", ";", "=", name, f"{name}=", f"{name}={value}0", f"{name}={value[:-1]}", f"x{name}={value}"):
            self.check(401, "GET", Cookie=cookies)

    def test_credentials_in_the_request_take_precedence(self):
        answer = self.page.ask("GET", "/v1/whoami", Authorization="Bearer bob:hidden")
        self.assertEqual(answer.json()["user"], "bob")
        self.check(401, "GET", Authorization="Bearer bob:wrong")

    def test_a_page_does_not_make_the_browser_ask_for_a_password(self):
        self.page.cookies = {}
        for headers in {"Sec_Fetch_Mode": None}, {"X_Sluice": None}:
            answer = self.page.ask("GET", "/v1/ns", **headers)
            self.assertEqual(answer.status, 401)
            self.assertNotIn("Basic", str(answer.headers.get_all("WWW-Authenticate")))
        answer = self.page.ask("GET", "/v1/ns", X_Sluice=None, Sec_Fetch_Mode="navigate", Sec_Fetch_Site="none")
        self.assertIn("Basic", str(answer.headers.get_all("WWW-Authenticate")))


if __name__ == "__main__":
    sluiced.main()
