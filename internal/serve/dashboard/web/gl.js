// The renderer: instances of a few meshes with one light, lines, and a picture of numbers by which things are picked.

const head = `#version 300 es
precision highp float;
`;
const vertex = head + `
uniform mat4 view;
in vec4 corner;        // xyz, and which half it belongs to
in vec3 normal;
in vec4 row0, row1, row2; // of the pose
in vec4 size;          // scale, and how far the halves are apart
in vec4 colour;
in float id;
out vec3 n; out vec3 world; out vec4 c; flat out float number;
void main() {
  vec4 p = vec4(corner.xyz * size.xyz, 1.0);
  p.z += corner.w * size.w;
  world = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  n = vec3(dot(row0.xyz, normal), dot(row1.xyz, normal), dot(row2.xyz, normal));
  c = colour; number = id;
  gl_Position = view * vec4(world, 1.0);
}`;
const fragment = head + `
uniform vec3 eye; uniform vec3 sky; uniform float picking; uniform float ground; uniform float reach; uniform float shade;
in vec3 n; in vec3 world; in vec4 c; flat in float number;
out vec4 pixel;
void main() {
  vec3 m = normalize(n);
  float far = length(world - eye);
  // Walls of the world between the eye and what it looks at are a sieve.
  if (number < 0.5 && ground < 0.5 && c.a > 0.995 && far < reach && m.z < 0.7) {
    if (picking > 0.5 || mod(floor(gl_FragCoord.x) + 3.0 * floor(gl_FragCoord.y), 8.0) > 0.5) discard;
  }
  if (picking > 0.5) {
    pixel = vec4(mod(number, 256.0) / 255.0, floor(number / 256.0) / 255.0, 0.0, 1.0);
    return;
  }
  vec3 base = c.rgb;
  if (ground > 0.5) {
    base *= shade;
    vec2 g = abs(fract(world.xy + 0.5) - 0.5) / fwidth(world.xy);
    float fine = 1.0 - min(min(g.x, g.y), 1.0);
    base = mix(base, base * 0.72, fine * smoothstep(60.0, 5.0, far));
  }
  vec3 sun = normalize(vec3(0.45, -0.35, 0.82));
  float light = 0.52 + 0.18 * m.z + 0.42 * max(dot(m, sun), 0.0);
  vec3 lit = base * light;
  float fog = ground > 0.5 ? smoothstep(12.0, 70.0, far) : 0.0;
  pixel = vec4(mix(lit, sky, fog), c.a);
}`;
const lineVertex = head + `
uniform mat4 view; in vec3 at; in vec4 tint; out vec4 c;
void main() { c = tint; gl_Position = view * vec4(at, 1.0); gl_PointSize = 7.0; }`;
const lineFragment = head + `
in vec4 c; out vec4 pixel; void main() { pixel = c; }`;

// The meshes: corners of x y z half, normals, triangles.
function sphere(rings = 8, steps = 20) {
  const v = [], n = [], t = [];
  for (let half = 1; half >= -1; half -= 2) {
    for (let i = 0; i <= rings; i++) {
      const up = half * Math.PI / 2 * (half > 0 ? 1 - i / rings : i / rings), z = Math.sin(up), r = Math.cos(up);
      for (let k = 0; k <= steps; k++) {
        const a = 2 * Math.PI * k / steps, x = r * Math.cos(a), y = r * Math.sin(a);
        v.push(x, y, z, half);
        n.push(x, y, z);
      }
    }
  }
  const row = steps + 1;
  for (let i = 0; i < 2 * rings + 1; i++) {
    for (let k = 0; k < steps; k++) {
      const a = i * row + k;
      t.push(a, a + row, a + 1, a + 1, a + row, a + row + 1);
    }
  }
  return { v, n, t };
}

function cylinder(steps = 28) {
  const v = [], n = [], t = [];
  for (let k = 0; k <= steps; k++) {
    const a = 2 * Math.PI * k / steps, x = Math.cos(a), y = Math.sin(a);
    v.push(x, y, 1, 0, x, y, -1, 0);
    n.push(x, y, 0, x, y, 0);
    if (k < steps) t.push(2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 2, 2 * k + 1, 2 * k + 3);
  }
  for (const z of [1, -1]) {
    const first = v.length / 4;
    v.push(0, 0, z, 0);
    n.push(0, 0, z);
    for (let k = 0; k <= steps; k++) {
      const a = 2 * Math.PI * k / steps;
      v.push(Math.cos(a), Math.sin(a), z, 0);
      n.push(0, 0, z);
      if (k < steps) t.push(first, first + 1 + k, first + 2 + k);
    }
  }
  return { v, n, t };
}

function box() {
  const v = [], n = [], t = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const s of [1, -1]) {
      const first = v.length / 4;
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0], m = [0, 0, 0];
        p[axis] = m[axis] = s;
        p[(axis + 1) % 3] = a;
        p[(axis + 2) % 3] = b;
        v.push(...p, 0);
        n.push(...m);
      }
      t.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  }
  return { v, n, t };
}

const square = () => ({ v: [-1, -1, 0, 0, 1, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0], n: [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], t: [0, 1, 2, 0, 2, 3] });

// terrain is a height field of the server as a mesh.
export function terrain(field) {
  const v = [], n = [], t = [], { columns, rows, points } = field;
  const z = (i, j) => points[3 * (j * columns + i) + 2];
  const dx = points[3] - points[0], dy = points[3 * columns + 1] - points[1];
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const at = 3 * (j * columns + i);
      v.push(points[at], points[at + 1], points[at + 2], 0);
      const sx = (z(Math.min(i + 1, columns - 1), j) - z(Math.max(i - 1, 0), j)) / (2 * dx), sy = (z(i, Math.min(j + 1, rows - 1)) - z(i, Math.max(j - 1, 0))) / (2 * dy);
      const l = Math.hypot(sx, sy, 1);
      n.push(-sx / l, -sy / l, 1 / l);
      if (i + 1 < columns && j + 1 < rows) {
        const a = j * columns + i;
        t.push(a, a + 1, a + columns, a + 1, a + columns + 1, a + columns);
      }
    }
  }
  return { v, n, t };
}

// solid is a mesh file as the server sends it: u32 triangles of the file and of what follows, then x y z of each corner. Faces are flat.
export function solid(buffer) {
  const [whole, count] = new Uint32Array(buffer, 0, 2), p = new Float32Array(buffer, 8, 9 * count), v = [], n = [];
  for (let i = 0; i < p.length; i += 9) {
    const a = [p[i + 3] - p[i], p[i + 4] - p[i + 1], p[i + 5] - p[i + 2]], b = [p[i + 6] - p[i], p[i + 7] - p[i + 1], p[i + 8] - p[i + 2]];
    const up = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], l = Math.hypot(...up) || 1;
    for (let k = i; k < i + 9; k += 3) {
      v.push(p[k], p[k + 1], p[k + 2], 0);
      n.push(up[0] / l, up[1] / l, up[2] / l);
    }
  }
  return { v, n, t: Array.from({ length: 3 * count }, (_, i) => i), whole, count };
}

export const stride = 21; // floats an instance: three rows, size, colour, id

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "low-power" });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.canvas = canvas;
    this.solid = this.program(vertex, fragment);
    this.thin = this.program(lineVertex, lineFragment);
    this.meshes = new Map();
    for (const [name, m] of [["sphere", sphere()], ["cylinder", cylinder()], ["box", box()], ["square", square()]]) this.mesh(name, m);
    this.lineBuffer = gl.createBuffer();
    this.lineArray = gl.createVertexArray();
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    this.attribute(this.thin, "at", 3, 28, 0);
    this.attribute(this.thin, "tint", 4, 28, 12);
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.pickBuffer = null;
  }

  program(v, f) {
    const gl = this.gl, p = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, v], [gl.FRAGMENT_SHADER, f]]) {
      const s = gl.createShader(kind);
      gl.shaderSource(s, source);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s) ?? "shader");
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p) ?? "program");
    return p;
  }

  attribute(program, name, size, step, offset, divisor = 0) {
    const gl = this.gl, at = gl.getAttribLocation(program, name);
    if (at < 0) return;
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, gl.FLOAT, false, step, offset);
    gl.vertexAttribDivisor(at, divisor);
  }

  mesh(name, { v, n, t }) {
    const gl = this.gl, array = gl.createVertexArray(), instances = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(v), gl.STATIC_DRAW);
    this.attribute(this.solid, "corner", 4, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(n), gl.STATIC_DRAW);
    this.attribute(this.solid, "normal", 3, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(t), gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    const step = 4 * stride;
    for (const [k, a] of ["row0", "row1", "row2", "size", "colour"].entries()) this.attribute(this.solid, a, 4, step, 16 * k, 1);
    this.attribute(this.solid, "id", 1, step, 80, 1);
    gl.bindVertexArray(null);
    this.meshes.set(name, { array, instances, count: t.length });
  }

  resize() {
    const c = this.canvas, scale = Math.min(devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(c.clientWidth * scale)), h = Math.max(1, Math.round(c.clientHeight * scale));
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    return [w, h];
  }

  // draw shows batches: {mesh, data, count, ground, ghost}; lines and points are x y z r g b a each.
  draw(camera, batches, lines, points, sky) {
    const gl = this.gl, [w, h] = this.resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, w, h);
    gl.clearColor(...sky, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.solids(camera, batches, 0, sky);
    gl.useProgram(this.thin);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.thin, "view"), false, camera.matrix);
    gl.enable(gl.BLEND);
    this.thins(lines, gl.LINES);
    gl.disable(gl.DEPTH_TEST);
    this.thins(points, gl.POINTS);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
  }

  thins(data, kind) {
    if (!data.length) return;
    const gl = this.gl;
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
    gl.drawArrays(kind, 0, data.length / 7);
  }

  solids(camera, batches, picking, sky) {
    const gl = this.gl, u = (name) => gl.getUniformLocation(this.solid, name);
    gl.useProgram(this.solid);
    gl.uniformMatrix4fv(u("view"), false, camera.matrix);
    gl.uniform3fv(u("eye"), camera.eye);
    gl.uniform3fv(u("sky"), sky);
    gl.uniform1f(u("picking"), picking);
    gl.uniform1f(u("reach"), 0.9 * camera.distance);
    gl.uniform1f(u("shade"), sky[0] < 0.5 ? 0.35 : 1);
    for (const b of batches) {
      if (!b.count || picking && b.ghost) continue;
      const m = this.meshes.get(b.mesh);
      gl.uniform1f(u("ground"), b.ground ? 1 : 0);
      gl.bindVertexArray(m.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, m.instances);
      gl.bufferData(gl.ARRAY_BUFFER, b.data.subarray(0, b.count * stride), gl.DYNAMIC_DRAW);
      if (b.ground) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE); // from below it hides nothing
      if (b.ghost) { gl.enable(gl.BLEND); gl.depthMask(false); }
      gl.drawElementsInstanced(gl.TRIANGLES, m.count, gl.UNSIGNED_INT, 0, b.count);
      if (b.ghost) { gl.disable(gl.BLEND); gl.depthMask(true); }
    }
    gl.disable(gl.CULL_FACE);
    gl.bindVertexArray(null);
  }

  // pick is the id of what is seen at x, y of the canvas, CSS pixels from its left and top; 0 = none.
  pick(camera, batches, x, y) {
    const gl = this.gl, [w, h] = this.resize(), scale = w / this.canvas.clientWidth;
    const frame = gl.createFramebuffer(), colour = gl.createRenderbuffer(), depth = gl.createRenderbuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.bindRenderbuffer(gl.RENDERBUFFER, colour);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, w, h);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, colour);
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.solids(camera, batches, 1, [0, 0, 0]);
    const p = new Uint8Array(4);
    gl.readPixels(Math.round(x * scale), h - 1 - Math.round(y * scale), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, p);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(frame);
    gl.deleteRenderbuffer(colour);
    gl.deleteRenderbuffer(depth);
    return p[0] + 256 * p[1];
  }
}

// Camera looks at target from a distance; angles rad, z up.
export class Camera {
  target = [0, 0, 0.3];
  yaw = -0.9;
  pitch = 0.42;
  distance = 2.5;
  matrix = new Float32Array(16);
  eye = [0, 0, 0];

  update(aspect) {
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch));
    this.distance = Math.max(0.05, Math.min(300, this.distance));
    const cp = Math.cos(this.pitch), back = [cp * Math.cos(this.yaw), cp * Math.sin(this.yaw), Math.sin(this.pitch)];
    const right = [-Math.sin(this.yaw), Math.cos(this.yaw), 0];
    const up = [-Math.sin(this.pitch) * Math.cos(this.yaw), -Math.sin(this.pitch) * Math.sin(this.yaw), cp];
    const e = this.eye = this.target.map((t, i) => t + back[i] * this.distance);
    this.right = right;
    this.up = up;
    const dot = (a) => -(a[0] * e[0] + a[1] * e[1] + a[2] * e[2]);
    const near = this.distance / 100, far = this.distance * 20 + 100, f = 1 / Math.tan(0.4);
    const a = f / aspect, c = (far + near) / (near - far), d = 2 * far * near / (near - far);
    const z = dot(back);
    this.matrix.set([
      a * right[0], f * up[0], c * back[0], -back[0],
      a * right[1], f * up[1], c * back[1], -back[1],
      a * right[2], f * up[2], c * back[2], -back[2],
      a * dot(right), f * dot(up), c * z + d, -z,
    ]);
  }
}
