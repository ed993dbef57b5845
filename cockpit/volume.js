// SPDX-License-Identifier: Apache-2.0
// volume - the page of one volume: source, claim, holders, timeline, events, actions
//
// The row comes from the model. Steps and holds are asked for when the page opens, and again after each event or change
// of this volume; events come by a watch of their own.

import { ask, watch, segment } from "./api.js";
import * as actions from "./actions.js";
import { element, gathered, time } from "./dom.js";
import { use_of } from "./list.js";
import { condition, key } from "./model.js";
import { timeline } from "./timeline.js";

const EVENTS_MAX = 50;
const PLAIN = /^[\w./~:-]+$/; // a value that a field selector takes without quoting

function terms(pairs) {
    return element("dl", {}, ...pairs.filter(pair => pair[1]).flatMap(([name, value]) => [
        element("dt", {}, name), element("dd", {}, value)]));
}

function table(label, columns, rows) {
    return element("table", { "aria-label": label },
                   element("thead", {}, element("tr", {}, ...columns.map(text => element("th", { scope: "col" }, text)))),
                   element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map(cell => element("td", {}, cell))))));
}

export class VolumePage {
    constructor(page, model, uid, name) {
        Object.assign(this, { model, uid, name, events: [], steps: [], holds: [], open: true });
        this.head = element("h1", {});
        this.buttons = element("div", { class: "tools" });
        this.parts = {};
        for (const part of ["facts", "holders", "steps", "events"])
            this.parts[part] = element("section", { id: part });
        page.replaceChildren(element("nav", {}, element("a", { href: "#/" }, "All volumes")), this.head, this.buttons,
                             ...Object.values(this.parts));
        this.refresh_soon = gathered(200, () => this.refresh());
        this.draw_events_soon = gathered(100, () => this.draw_events());
        this.update([uid]);
        this.draw_events();
        this.refresh();
        this.follow();
    }

    // After podvold was away, events begin again: their numbers do with each start.
    reconnected() {
        this.events = [];
        this.stop();
        this.follow();
        this.refresh();
    }

    follow() {
        this.stop = watch("/podvol/v1/events", { watch: true, after: 0 }, event => this.on_event(event), () => { /* the model connects again */ });
    }

    on_event(event) {
        if (event.volume !== this.name && event.uniqueName !== this.unique_name())
            return;
        if (event.podUID && event.podUID !== this.uid)
            return;
        this.events = [...this.events.slice(1 - EVENTS_MAX), event];
        this.draw_events_soon();
        this.refresh_soon();
    }

    unique_name() {
        return this.row ? this.row.uniqueName : undefined;
    }

    update(uids) {
        if (uids && !uids.includes(this.uid))
            return;
        this.row = this.model.row(this.uid, this.name) || this.row;
        const present = Boolean(this.model.row(this.uid, this.name));
        this.head.textContent = this.row ? `${this.name} of pod ${this.row.pod}` : this.name;
        this.draw_facts(present);
        this.draw_buttons(present);
        this.refresh_soon();
    }

    draw_facts(present) {
        const row = this.row;
        if (!row) {
            this.parts.facts.replaceChildren(element("p", {}, "No such volume is known to podvold."));
            return;
        }
        const { text, kind, reason } = condition(row);
        this.parts.facts.replaceChildren(element("h2", {}, "Volume"), terms([
            ["State", present ? element("span", { class: kind, id: "state" }, text) : element("span", { id: "state" }, "gone")],
            ["Reason", present && reason], ["What to do", present && row.advice], ["Source", row.source], ["Claim", row.claim],
            ["Use", present && use_of(this.model.use.get(key(row)))], ["Plugin", row.plugin], ["Path", row.path], ["Device", row.device],
            ["Access", row.readOnly ? "read-only" : "read and write"], ["Next attempt", present && row.nextRetry && time(row.nextRetry)],
        ]));
    }

    draw_buttons(present) {
        const shown = JSON.stringify([present, this.row && this.row.claim]);
        if (shown === this.buttons_shown)
            return; // drawing them again would take the focus from them
        this.buttons_shown = shown;
        const button = (text, action) => element("button", { type: "button", click: () => action(this.row) }, text);
        this.buttons.replaceChildren(...(present ? [button("Unmount…", actions.unmount)] : []),
                                     ...(present && this.row.claim ? [button("Snapshot…", actions.snapshot), button("Grow…", actions.grow)] : []));
    }

    async refresh() {
        const unique = this.unique_name();
        if (!unique)
            return;
        const params = PLAIN.test(unique) ? { fieldSelector: `uniqueName=${unique}` } : {};
        const [steps, holds] = await Promise.all([
            ask("GET", "/podvol/v1/steps", { params }).catch(() => null),
            ask("GET", `/podvol/v1/pods/${segment(this.uid)}/holds`).catch(() => null)]);
        if (!this.open)
            return;
        this.steps = steps ? steps.items.filter(step => step.uniqueName === unique && (!step.podUID || step.podUID === this.uid)) : this.steps;
        this.holds = holds ? holds.items : [];
        this.parts.steps.replaceChildren(element("h2", {}, "Timeline of its steps"), timeline(this.steps));
        this.draw_holders();
    }

    draw_holders() {
        const users = (this.row.users && this.row.users.items) || [];
        const rows = [
            ...this.holds.map(hold => [hold.container || "", `hold (${hold.kind})`, [hold.pid, hold.process].filter(Boolean).join(" "), time(hold.since),
                                       element("button", { type: "button", "aria-label": `Release hold ${hold.id}`,
                                                           click: () => actions.release(hold, () => this.refresh()) }, "Release…")]),
            ...users.map(user => [user.command || "", user.kind, user.pid ? String(user.pid) : "", "", ""])];
        this.parts.holders.replaceChildren(element("h2", {}, "Holders"), rows.length ?
            table("Holders", ["Container or command", "Kind", "Process", "Since", "Action"], rows) :
            element("p", { class: "faint" }, "No container and no process holds this pod."));
    }

    draw_events() {
        const rows = [...this.events].reverse().map(event => [time(event.time), event.type, event.step || "", event.error || ""]);
        this.parts.events.replaceChildren(element("h2", {}, "Events"), rows.length ?
            table("Events", ["Time", "Type", "Step", "Message"], rows) : element("p", { class: "faint" }, "No event since the start of podvold."));
    }

    close() {
        this.open = false;
        this.stop();
    }
}
