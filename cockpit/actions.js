// SPDX-License-Identifier: Apache-2.0
// actions - what a user can do with a volume: each asks once, and then podvold decides
//
// No button is hidden for lack of rights: podvold knows them, and its sentence says what is missing.

import { ask, segment } from "./api.js";
import { element } from "./dom.js";

function report(text, kind) {
    const result = document.getElementById("result");
    result.className = kind;
    result.textContent = text;
}

export function clear_report() {
    report("", "");
}

// A question with at most one text to enter; work(text) is done after one confirmation, and says what came of it.
function question({ title, text, button, input, work }) {
    const entered = input ? element("input", { id: "entered", value: input.value, required: true }) : null;
    const dialog = element("dialog", { "aria-labelledby": "question-title", "aria-describedby": "question-text" }, element(
        "form", { method: "dialog" },
        element("h2", { id: "question-title" }, title),
        element("p", { id: "question-text" }, text),
        entered && element("label", { for: "entered" }, `${input.label} `, entered),
        element("div", { class: "buttons" },
                element("button", { value: "go", id: "confirm" }, button),
                element("button", { value: "cancel", formnovalidate: true, autofocus: !input }, "Cancel"))));
    const opener = document.activeElement;
    dialog.addEventListener("close", async () => {
        dialog.remove();
        if (opener && opener.isConnected)
            opener.focus();
        if (dialog.returnValue !== "go")
            return;
        report(`${title}: waiting for podvold`, "");
        try {
            report(await work(entered && entered.value.trim()), "done");
        } catch (refused) {
            report(refused.sentence || String(refused), "refused");
        }
    });
    document.body.append(dialog);
    dialog.showModal();
}

export function unmount(row) {
    question({
        title: `Unmount pod ${row.pod}`,
        text: "The pod is deleted, and all of its volumes are unmounted. Data of claims stays; emptyDirs go with the pod.",
        button: "Delete pod and unmount",
        work: async () => {
            await ask("POST", `/podvol/v1/pods/${segment(row.podUID)}/unmount`);
            return `Pod ${row.pod} is gone, and its volumes are unmounted.`;
        },
    });
}

function claim_path(row) {
    const [namespace, name] = row.claim.split("/");
    return { namespace, name, path: `/api/v1/namespaces/${segment(namespace)}/persistentvolumeclaims/${segment(name)}` };
}

export function snapshot(row) {
    const { namespace, name } = claim_path(row);
    question({
        title: `Take a snapshot of claim ${row.claim}`,
        text: "A VolumeSnapshot with the default class is created; it is usable once it is ready.",
        button: "Take snapshot",
        input: { label: "Name of the snapshot", value: `${name}-${new Date().toISOString().slice(0, 19).replace(/[^0-9]/g, "")}` },
        work: async entered => {
            await ask("POST", `/apis/snapshot.storage.k8s.io/v1/namespaces/${segment(namespace)}/volumesnapshots`, { body: {
                apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshot", metadata: { name: entered, namespace },
                spec: { source: { persistentVolumeClaimName: name } },
            } });
            return `VolumeSnapshot ${namespace}/${entered} is created.`;
        },
    });
}

export async function grow(row) {
    const { path } = claim_path(row);
    const claim = await ask("GET", path).catch(refused => refused);
    const size = claim.spec ? claim.spec.resources.requests.storage : "";
    question({
        title: `Grow claim ${row.claim}`,
        text: `It requests ${size || "an unknown size"}. A claim never shrinks.`,
        button: "Grow",
        input: { label: "New size, such as 20Gi", value: size },
        work: async entered => {
            await ask("PATCH", path, { type: "application/merge-patch+json",
                                       body: { spec: { resources: { requests: { storage: entered } } } } });
            return `Claim ${row.claim} requests ${entered}.`;
        },
    });
}

export function release(hold, done) {
    question({
        title: `Release hold ${hold.id} of pod ${hold.pod}`,
        text: `Container ${hold.container} no longer keeps the pod from being unmounted. Release it only when the container is gone.`,
        button: "Release hold",
        work: async () => {
            await ask("DELETE", `/podvol/v1/pods/${segment(hold.podUID)}/holds/${segment(hold.id)}`);
            done();
            return `Hold ${hold.id} is released.`;
        },
    });
}
