// SPDX-License-Identifier: Apache-2.0
// api - requests to podvold's unix socket, under the rights of Cockpit's user
//
// podvold knows who asks by the uid of the socket's peer: root with administrative access in Cockpit, else the user
// that logged in. So this page decides nothing about rights; a refusal is podvold's own sentence.

const cockpit = window.cockpit;
const LINE_MAX = 4 * 1024 * 1024; // characters of one line of a watch

function socket() {
    const own = cockpit.manifests.podvol;
    return (own && own.config && own.config.socket) || "/run/podvol/podvol.sock";
}

const http = () => cockpit.http({ unix: socket(), superuser: "try" });

const PROBLEMS = {
    "not-found": () => `podvold does not answer: nothing listens on ${socket()}.`,
    "access-denied": () => `You may not use ${socket()}: join the group podvol, or turn on administrative access.`,
    "disconnected": () => "podvold closed the connection.",
    "terminated": () => "The connection ended.",
};

// What went wrong, as one sentence; away when no answer came at all.
function refusal(exception, data) {
    const problem = exception.problem;
    let sentence = problem ? (PROBLEMS[problem] || (() => `podvold does not answer: ${problem}.`))() :
        `podvold answered ${exception.status}.`;
    try {
        sentence = JSON.parse(data).message || sentence;
    } catch (error) { /* no object: the sentence stays */ }
    return { sentence, status: exception.status, away: Boolean(problem) };
}

export function ask(method, path, { body = null, type = "application/json", params } = {}) {
    return new Promise((resolve, reject) => {
        http().request({ method, path, params, body: body === null ? "" : JSON.stringify(body),
                         headers: body === null ? {} : { "Content-Type": type } })
            .then(text => resolve(text ? JSON.parse(text) : {}), (exception, data) => reject(refusal(exception, data)));
    });
}

// The status and the sentence of an answer that is no stream.
function refused_watch(head, body) {
    return refusal({ status: Number(head.split(" ")[1]) || 0 }, body);
}

// Calls on_object with each line; on_end once, with what went wrong or null. Returns what ends it without on_end.
// As HTTP/1.0 over a channel of its own, whose answer ends with the connection: cockpit.http() does not report that a
// server went away in the middle of an answer.
export function watch(path, params, on_object, on_end) {
    const query = Object.entries(params).map(pair => pair.map(encodeURIComponent).join("=")).join("&");
    const channel = cockpit.channel({ payload: "stream", unix: socket(), superuser: "try" });
    let head = null, rest = "", open = true;
    channel.addEventListener("message", (event, chunk) => {
        rest += chunk;
        const end = head === null ? rest.indexOf("\r\n\r\n") : -1;
        if (end >= 0) {
            head = rest.slice(0, end);
            rest = rest.slice(end + 4);
        }
        if (rest.length > LINE_MAX)
            channel.close("protocol-error");
        if (head === null || !head.includes(" 200 "))
            return;
        const lines = rest.split("\n");
        rest = lines.pop();
        for (const line of lines)
            if (open && line)
                on_object(JSON.parse(line));
    });
    channel.addEventListener("close", (event, { problem }) => {
        if (!open)
            return;
        open = false;
        if (head === null || head.includes(" 200 "))
            on_end(problem || head === null ? refusal({ problem: problem || "disconnected" }) : null);
        else
            on_end(refused_watch(head, rest));
    });
    channel.send(`GET ${path}?${query} HTTP/1.0\r\nHost: podvol\r\n\r\n`);
    return () => {
        open = false;
        channel.close("cancelled");
    };
}

export const segment = encodeURIComponent;
