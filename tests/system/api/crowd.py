# SPDX-License-Identifier: Apache-2.0
"""Many quick clients of one node: requests on connections that stay, as client libraries make them."""
import http.client
import json
import threading

import node
from node import equal

MAPS = "/api/v1/namespaces/default/configmaps"
ALL = f"{MAPS}?fieldSelector=metadata.name!=kube-root-ca.crt"  # but for what podvold keeps there itself


class Connection(node.Connection):
    """One to the unix socket of a node."""

    def __init__(self, n):
        super().__init__(n.socket)

    def ask(self, method, path, body=None, content="application/json"):
        """(HTTP status, body as JSON)"""
        text = None if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        try:
            self.request(method, path, text, {"Content-Type": content} if text is not None else {})
            answer = self.getresponse()
            return answer.status, json.loads(answer.read())
        except (http.client.HTTPException, ValueError) as error:
            self.close()
            raise ConnectionError(f"{method} {path}: {error}") from error

    def expect(self, status, method, path, body=None, content="application/json"):
        got, answer = self.ask(method, path, body, content)
        equal(got, status, f"{method} {path}: {str(answer)[:500]}")
        return answer


def in_parallel(n, count, function):
    """function(number, connection) in so many threads at once; fails if one of them does."""
    problems = []

    def run(number):
        try:
            function(number, Connection(n))
        except Exception as error:  # pylint: disable=broad-exception-caught
            problems.append(error)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
