// Units: values are SI inside; one switch tells whether people read degrees and millimetres, or radians and metres.
import { show } from "./dom.js";

const plain = { rad: ["rad", 1, 3], "rad/s": ["rad/s", 1, 2], m: ["m", 1, 4], "m/s": ["m/s", 1, 3], "N·m": ["N·m", 1, 2], N: ["N", 1, 1], "°C": ["°C", 1, 0], V: ["V", 1, 1], A: ["A", 1, 2], s: ["s", 1, 2] };
const common = { rad: ["°", 180 / Math.PI, 1], "rad/s": ["°/s", 180 / Math.PI, 1], m: ["mm", 1000, 1], "m/s": ["mm/s", 1000, 0] };

let si = localStorage.getItem("units") === "si";
export const switched = () => si ? "rad · m" : "° · mm";
export function turn() {
  si = !si;
  localStorage.setItem("units", si ? "si" : "common");
}

// shownAs is what a unit is shown as: its name, the factor, and the decimals.
export const shownAs = (unit) => !si && common[unit] || plain[unit] || [unit, 1, 2];

// tell is a value with its unit, as people read it.
export function tell(v, unit) {
  const [name, factor, digits] = shownAs(unit);
  return show(v * factor, digits) + (name === "°" ? name : name === "1" ? "" : " " + name);
}

// The units of a joint.
export const way = (j) => j.kind === "slide" ? "m" : "rad";
export const force = (j) => j.kind === "slide" || j.kind === "thruster" ? "N" : "N·m";
