// SPDX-License-Identifier: Apache-2.0
// timeline - the last steps of a volume, drawn: a line for each step, in it a bar for each stage
//
// All lines have one scale, which the longest step gives. The same numbers follow as a table, for those who cannot see
// the drawing.

import { drawn, element, duration, time } from "./dom.js";

const STEPS_MAX = 20, LABEL = 330, WIDTH = 900, LINE = 24;

function bar(from, to, y, attributes, title) {
    return drawn("rect", { x: from, y, width: Math.max(to - from, 2), ...attributes }, drawn("title", {}, title));
}

function draw_step(step, line, scale) {
    const y = line * LINE, x = microseconds => LABEL + microseconds * scale;
    const label = `${time(step.began)}  ${step.step}, ${duration(step.tookMicroseconds)}`;
    return [
        drawn("text", { x: 0, y: y + 15 }, label),
        bar(x(0), x(step.tookMicroseconds), y + 4, { height: 14, class: step.error ? "failed" : "step" }, step.error || label),
        ...(step.stages || []).map((stage, i) => bar(
            x(stage.afterMicroseconds), x(stage.afterMicroseconds + stage.tookMicroseconds), y + 7,
            { height: 8, class: i % 2 ? "stage odd" : "stage" }, `${stage.name}: ${duration(stage.tookMicroseconds)}`)),
    ];
}

function table(steps) {
    const row = (...texts) => element("tr", {}, ...texts.map(text => element("td", {}, text)));
    const lines = steps.flatMap(step => [
        row(time(step.began), step.step, duration(step.tookMicroseconds), step.error || ""),
        ...(step.stages || []).map(stage => row("", stage.name, duration(stage.tookMicroseconds), "")),
    ]);
    return element("details", {}, element("summary", {}, "Steps and stages as a table"), element(
        "table", {}, element("thead", {}, element("tr", {}, ...["Began", "Step or stage", "Took", "Error"].map(
            text => element("th", { scope: "col" }, text)))), element("tbody", {}, ...lines)));
}

// The newest steps first.
export function timeline(all) {
    const steps = all.slice(-STEPS_MAX).reverse();
    if (!steps.length)
        return element("p", { class: "faint" }, "podvold has no step of this volume since its start.");
    const longest = Math.max(1, ...steps.map(step => step.tookMicroseconds));
    const failed = steps.filter(step => step.error).length;
    const scale = (WIDTH - LABEL - 4) / longest;
    return element("div", {}, drawn("svg", {
        class: "timeline", role: "img", viewBox: `0 0 ${WIDTH} ${steps.length * LINE}`,
        "aria-label": `The last ${steps.length} steps of this volume; ${failed} failed; the longest took ${duration(longest)}`,
    }, ...steps.flatMap((step, i) => draw_step(step, i, scale))), table(steps));
}
