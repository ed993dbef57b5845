// SPDX-License-Identifier: Apache-2.0
// model - rows of volumes as podvold shows them, kept current by watches
//
// One list, then three watches: of volumes that were mounted, unmounted or failed; of pods, and of Warning events of
// pods, after which the rows of that pod are asked for. Nothing is asked for by a clock: a timer runs only to
// connect again while podvold is away, and to gather changes. Refuses to guess: when a watch ends, all is listed again.

import { ask, watch, segment } from "./api.js";
import { gathered } from "./dom.js";

const RETRY_FIRST = 500, RETRY_LAST = 8000; // milliseconds

export const key = row => `${row.podUID}/${row.volume}`;

export class Model {
    // changed(uids) with the pods whose rows changed, null for all; connection(sentence) with "" while connected.
    constructor(changed, connection) {
        this.changed = changed;
        this.connection = connection;
        this.pods = new Map(); // uid: Map of volume name: row
        this.use = new Map(); // key: item of statistics
        this.stops = [];
        this.retry = RETRY_FIRST;
        this.dirty = new Set();
        this.asking = null; // the uid whose rows are asked for
        this.generation = 0;
        this.measure_soon = gathered(1000, () => this.measure());
    }

    row(uid, volume) {
        const rows = this.pods.get(uid);
        return rows && rows.get(volume);
    }

    set_rows(uid, rows) {
        if (rows.length)
            this.pods.set(uid, new Map(rows.map(row => [row.volume, row])));
        else
            this.pods.delete(uid);
    }

    async connect() {
        const generation = ++this.generation;
        this.stop();
        try {
            const pods = await ask("GET", "/api/v1/pods");
            const warnings = await ask("GET", "/api/v1/events", { params: { limit: 1 } });
            const list = await ask("GET", "/podvol/v1/volumes");
            if (generation !== this.generation)
                return;
            this.take(list.items, pods.items);
            this.begin(list.metadata, pods.metadata, warnings.metadata);
        } catch (refused) {
            if (generation === this.generation)
                this.again(refused.sentence || String(refused));
        }
    }

    take(rows, pods) {
        const grouped = new Map();
        for (const row of rows) {
            if (!grouped.has(row.podUID))
                grouped.set(row.podUID, []);
            grouped.get(row.podUID).push(row);
        }
        this.pods.clear();
        grouped.forEach((of_pod, uid) => this.set_rows(uid, of_pod));
        this.dirty.clear();
        for (const pod of pods)
            if (!grouped.has(pod.metadata.uid) && (pod.spec.volumes || []).length)
                this.dirty.add(pod.metadata.uid);
    }

    begin(volumes, pods, warnings) {
        this.retry = RETRY_FIRST;
        this.connection("");
        this.changed(null);
        this.follow("/podvol/v1/volumes", { watch: true, resourceVersion: volumes.resourceVersion }, event => this.on_row(event));
        this.follow("/api/v1/pods", { watch: true, resourceVersion: pods.resourceVersion },
                    event => this.look_at(event.object.metadata.uid));
        this.follow("/api/v1/events", { watch: true, resourceVersion: warnings.resourceVersion, fieldSelector: "type=Warning" },
                    event => { if (event.object.involvedObject.kind === "Pod") this.look_at(event.object.involvedObject.uid); });
        this.measure();
        this.look();
    }

    follow(path, params, on_event) {
        this.stops.push(watch(path, params, event => {
            if (event.type === "ERROR") // the server kept no such version any more
                this.connect();
            else
                on_event(event);
        }, refused => {
            if (refused)
                this.again(refused.sentence);
            else
                this.connect();
        }));
    }

    stop() {
        for (const stop of this.stops.splice(0))
            stop();
        window.clearTimeout(this.timer);
    }

    again(sentence) {
        this.stop();
        this.connection(sentence);
        this.timer = window.setTimeout(() => this.connect(), this.retry);
        this.retry = Math.min(this.retry * 2, RETRY_LAST);
    }

    on_row({ type, object }) {
        const rows = this.pods.get(object.podUID) || new Map();
        if (type === "DELETED")
            rows.delete(object.volume);
        else
            rows.set(object.volume, object);
        this.set_rows(object.podUID, [...rows.values()]);
        if (this.asking === object.podUID) // that answer may be older than this row
            this.dirty.add(object.podUID);
        if (type !== "DELETED" && object.state === "mounted")
            this.measure_soon();
        this.changed([object.podUID]);
    }

    look_at(uid) {
        this.dirty.add(uid);
        this.look();
    }

    // One request at a time, however many pods changed; those that change meanwhile are asked for once.
    async look() {
        if (this.asking)
            return;
        for (const uid of this.dirty) {
            this.dirty.delete(uid);
            this.asking = uid;
            const generation = this.generation;
            const answer = await ask("GET", `/podvol/v1/pods/${segment(uid)}/volumes`).catch(refused => refused);
            if (generation !== this.generation || answer.away)
                continue;
            if (answer.items)
                this.set_rows(uid, answer.items);
            else if (answer.status === 404)
                await this.look_at_rest(uid);
            this.changed([uid]);
        }
        this.asking = null;
    }

    // A pod that is gone may have volumes that are still mounted.
    async look_at_rest(uid) {
        const answer = await ask("GET", "/podvol/v1/volumes", { params: { fieldSelector: `podUID=${uid}` } }).catch(() => null);
        if (answer)
            this.set_rows(uid, answer.items);
    }

    async measure() {
        const answer = await ask("GET", "/podvol/v1/statistics").catch(() => null);
        if (!answer)
            return;
        this.use = new Map(answer.items.map(item => [key(item), item]));
        this.changed(null);
    }
}

// What a row says about itself: a word for the state, its kind (good, bad, busy), and the reason if there is one.
export function condition(row) {
    const reason = row.error || row.fault || row.resizeError || row.overLimit || row.leftOver || "";
    const text = [row.state, row.operation].filter(Boolean).join(", ");
    const stuck = /stuck|slow|retry/.test(row.operation || "");
    const settled = row.state === (row.wanted === false ? "absent" : "mounted");
    const kind = reason || stuck || row.state === "uncertain" ? "bad" : settled ? "good" : "busy";
    return { text: text || "unknown", kind, reason: typeof reason === "string" ? reason : JSON.stringify(reason) };
}
