// SPDX-License-Identifier: Apache-2.0
// list - the volumes of the node by pod, with state, use and reason
//
// Each pod is a table body of its own: a change draws that pod again and nothing else, whether the node has one
// volume or a thousand.

import { element, bytes } from "./dom.js";
import { condition, key } from "./model.js";

export function use_of(item) {
    if (!item)
        return "";
    if (item.error)
        return item.error;
    if (item.usedBytes === undefined)
        return item.capacityBytes === undefined ? "" : bytes(item.capacityBytes);
    const text = `${bytes(item.usedBytes)} of ${bytes(item.capacityBytes)}`;
    return element("span", {}, element("meter", {
        min: 0, max: item.capacityBytes || 1, value: item.usedBytes, high: item.capacityBytes * 0.9, "aria-label": `${item.volume}: ${text}`
    }), ` ${text}`);
}

function draw_row(row, use) {
    const { text, kind, reason } = condition(row);
    return element("tr", { "data-volume": row.volume },
                   element("td", {}, element("a", { href: `#/${encodeURIComponent(row.podUID)}/${encodeURIComponent(row.volume)}` }, row.volume)),
                   element("td", { class: kind }, text),
                   element("td", {}, use_of(use)),
                   element("td", {}, reason));
}

export class List {
    constructor(page, model) {
        this.model = model;
        this.bodies = new Map(); // uid: { body, name, rows, bad }
        this.filter = element("input", { type: "search", id: "filter", input: () => this.apply_filter() });
        this.attention = element("input", { type: "checkbox", id: "attention", change: () => this.apply_filter() });
        this.sum = element("span", { role: "status", id: "sum" });
        this.table = element("table", { "aria-label": "Volumes by pod" }, element("thead", {}, element("tr", {},
            ...["Volume", "State", "Use", "Reason"].map(text => element("th", { scope: "col" }, text)))));
        page.replaceChildren(
            element("h1", {}, "Pod volumes"),
            element("div", { class: "tools" },
                    element("label", {}, "Filter by pod or volume ", this.filter),
                    element("label", {}, this.attention, " Only volumes that need attention"),
                    element("button", { type: "button", click: () => model.measure() }, "Measure use again"),
                    this.sum),
            this.table);
        this.update(null);
    }

    update(uids) {
        for (const uid of uids || new Set([...this.model.pods.keys(), ...this.bodies.keys()]))
            this.draw_pod(uid);
        this.order();
        this.apply_filter();
    }

    draw_pod(uid) {
        const rows = this.model.pods.get(uid), old = this.bodies.get(uid);
        if (!rows) {
            if (old)
                old.body.remove();
            this.bodies.delete(uid);
            return;
        }
        const sorted = [...rows.values()].sort((a, b) => a.volume < b.volume ? -1 : 1);
        const shown = JSON.stringify(sorted.map(row => [row, this.model.use.get(key(row))]));
        if (old && old.shown === shown)
            return;
        const name = sorted[0].pod || uid;
        const focused = old && old.body.contains(document.activeElement) ? document.activeElement.textContent : null;
        const body = element("tbody", { "data-pod": name },
                             element("tr", {}, element("th", { scope: "rowgroup", colspan: 4 }, name)),
                             ...sorted.map(row => draw_row(row, this.model.use.get(key(row)))));
        if (old)
            old.body.replaceWith(body);
        this.bodies.set(uid, { body, name, shown, rows: sorted, bad: sorted.filter(row => condition(row).kind === "bad").length });
        if (focused !== null)
            [...body.querySelectorAll("a")].filter(link => link.textContent === focused).forEach(link => link.focus());
    }

    // Bodies that are in place are not moved: moving one takes the focus from it.
    order() {
        const sorted = [...this.bodies.values()].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
        let at = this.table.tHead.nextSibling;
        for (const { body } of sorted)
            if (body === at)
                at = at.nextSibling;
            else
                this.table.insertBefore(body, at);
    }

    apply_filter() {
        const wanted = this.filter.value.trim().toLowerCase();
        let volumes = 0, bad = 0;
        for (const entry of this.bodies.values()) {
            volumes += entry.rows.length;
            bad += entry.bad;
            entry.rows.forEach((row, i) => {
                entry.body.rows[i + 1].hidden = (this.attention.checked && condition(row).kind !== "bad") ||
                    !`${entry.name} ${row.volume}`.toLowerCase().includes(wanted);
            });
            entry.body.hidden = [...entry.body.rows].slice(1).every(tr => tr.hidden);
        }
        const text = `${volumes} volume${volumes === 1 ? "" : "s"} of ${this.bodies.size} pod${this.bodies.size === 1 ? "" : "s"}, ${bad} ${bad === 1 ? "needs" : "need"} attention`;
        if (this.sum.textContent !== text)
            this.sum.textContent = text;
    }

    close() { /* nothing is open but what the model has */ }
}
