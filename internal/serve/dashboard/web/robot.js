import { el } from "./dom.js";
export const open = (main) => { main.append(el("p", {}, "…")); return {}; };
