// SPDX-License-Identifier: Apache-2.0
// dom - elements, and how numbers and times are written
//
// Texts of objects become text nodes: nothing here or elsewhere on this page parses HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes))
        if (typeof value === "function")
            node.addEventListener(name, value);
        else if (value !== false && value !== undefined && value !== null)
            node.setAttribute(name, value === true ? "" : String(value));
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
}

// An element with attributes (a function is a listener) and children: elements and texts.
export function element(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function bytes(count) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = 0;
    while (count >= 1024 && unit < units.length - 1) {
        count /= 1024;
        unit++;
    }
    return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

export function duration(microseconds) {
    if (microseconds < 1000)
        return `${microseconds} µs`;
    return microseconds < 1000000 ? `${(microseconds / 1000).toFixed(1)} ms` : `${(microseconds / 1000000).toFixed(1)} s`;
}

export function time(text) {
    const date = new Date(text);
    return isNaN(date) ? "" : date.toLocaleString();
}

// Calls of the returned function within so many milliseconds become one.
export function gathered(milliseconds, work) {
    let timer = null;
    return () => {
        if (timer === null)
            timer = window.setTimeout(() => { timer = null; work(); }, milliseconds);
    };
}
