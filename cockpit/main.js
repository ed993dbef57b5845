// SPDX-License-Identifier: Apache-2.0
// main - which page the location asks for, and whether podvold is there

import { clear_report } from "./actions.js";
import { List } from "./list.js";
import { Model } from "./model.js";
import { VolumePage } from "./volume.js";

const cockpit = window.cockpit;
const page = document.getElementById("page"), connection = document.getElementById("connection");
let shown = null, away = true;
const pending = new Set(); // uids that changed; null for all
let drawing = false;

// Many changes of one moment are drawn together.
function changed(uids) {
    for (const uid of uids || [null])
        pending.add(uid);
    if (drawing)
        return;
    drawing = true;
    window.setTimeout(() => {
        const uids = pending.has(null) ? null : [...pending];
        pending.clear();
        drawing = false;
        if (shown)
            shown.update(uids);
    }, 50);
}

function show_connection(sentence) {
    const was_away = away;
    away = Boolean(sentence);
    connection.className = away ? "away" : "";
    connection.textContent = away ? `${sentence} What is shown is from before; trying again.` : "Connected to podvold.";
    if (was_away && !away && shown && shown.reconnected)
        shown.reconnected();
}

const model = new Model(changed, show_connection);

function show() {
    const [uid, volume] = cockpit.location.path;
    if (shown) {
        shown.close();
        clear_report();
        page.focus();
    }
    shown = volume === undefined ? new List(page, model) : new VolumePage(page, model, uid, volume);
}

cockpit.addEventListener("locationchanged", show);
cockpit.transport.wait(() => {
    show();
    model.connect();
});
