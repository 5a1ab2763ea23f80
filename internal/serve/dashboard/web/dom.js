// What all pages build their elements with.

export const el = (tag, props = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "class") e.className = v;
    else if (k.includes("-") || k === "for" || k === "type" || k === "colspan") e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...children);
  return e;
};

export const $ = (id) => document.getElementById(id);

// put changes a text node only where its text has changed.
export const put = (node, text) => { if (node.data !== text) node.data = text; };
export const text = (s = "") => document.createTextNode(s);

// show is a number for people: NaN is a dash.
export const show = (v, digits = 2) => Number.isFinite(v) ? v.toFixed(digits).replace(/^-(0\.?0*)$/, "$1") : "–";

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// split takes the command to try out of a message.
export function split(message) {
  const m = /^(.*?)\s*\(try: (.*)\)$/s.exec(message);
  return m ? [m[1], m[2]] : [message, ""];
}
