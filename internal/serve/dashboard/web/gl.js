// The renderer: instances of a few meshes with one light, lines, and a picture of numbers by which things are picked.

const head = `#version 300 es
precision highp float;
`;
const vertex = head + `
uniform mat4 view; uniform float round;
in vec4 corner;        // xyz, and which half it belongs to
in vec3 normal;
in vec4 row0, row1, row2; // of the pose
in vec4 size;          // scale, and how far the halves are apart
in vec4 colour;
in float id;
out vec3 n; out vec3 world; out vec4 c; flat out float number;
void main() {
  float r = round * min(min(size.x, size.y), size.z); // of the edges
  vec4 p = vec4(corner.xyz * (size.xyz - r) + normal * r, 1.0);
  p.z += corner.w * size.w;
  world = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  n = vec3(dot(row0.xyz, normal), dot(row1.xyz, normal), dot(row2.xyz, normal));
  c = colour; number = id;
  gl_Position = view * vec4(world, 1.0);
}`;
const depthFragment = head + `
void main() {}`;
const fragment = head + `
precision highp sampler2DShadow;
uniform vec3 eye; uniform vec3 sky; uniform float picking; uniform float ground; uniform float reach; uniform vec3 sun; uniform vec4 cut;
uniform mat4 light; uniform sampler2DShadow shadow;
in vec3 n; in vec3 world; in vec4 c; flat in float number;
out vec4 pixel;
// A grid of lines, which fades where its cells come near to the size of a pixel.
float grid(float cell) {
  vec2 p = world.xy / cell, w = fwidth(p), g = abs(fract(p + 0.5) - 0.5) / w;
  return (1.0 - min(min(g.x, g.y), 1.0)) * (1.0 - smoothstep(0.08, 0.3, max(w.x, w.y)));
}
// How much of the light comes through: nine places of the shadow's map.
float lit(vec3 m) {
  vec3 at = (light * vec4(world + 0.004 * reach * m, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0.01))) || any(greaterThan(at, vec3(0.99)))) return 1.0;
  float sum = 0.0;
  for (int i = -1; i <= 1; i++) for (int k = -1; k <= 1; k++) sum += texture(shadow, vec3(at.xy + 2.2 * vec2(i, k) / 1024.0, at.z - 0.002));
  return sum / 9.0;
}
void main() {
  vec3 m = normalize(n), to = eye - world;
  float far = length(to);
  // Walls of the world in front of the robots are cut away.
  if (number < 0.5 && ground < 0.5 && c.a > 0.995 && dot(cut.xyz, world - eye) < cut.w && abs(m.z) < 0.7) discard;
  if (picking > 0.5) {
    pixel = vec4(mod(number, 256.0) / 255.0, floor(number / 256.0) / 255.0, 0.0, 1.0);
    return;
  }
  if (dot(m, to) < 0.0) m = -m;
  float through = c.a < 0.9 ? 1.0 : lit(m);
  if (ground > 0.5) {
    vec3 base = mix(c.rgb, sky, 0.75);
    float dark = dot(sky, vec3(0.333)) < 0.5 ? 1.0 : 0.0;
    vec3 ink = mix(base * 0.78, base + 0.1, dark);
    base = mix(base, ink, max(grid(1.0), 0.5 * grid(0.1)));
    base *= mix(mix(0.62, 0.5, dark), 1.0, through);
    pixel = vec4(mix(base, sky, smoothstep(3.0 * reach, 16.0 * reach, far)), 1.0);
    return;
  }
  float direct = max(dot(m, sun), 0.0) * through;
  float gloss = pow(max(dot(m, normalize(sun + normalize(to))), 0.0), 36.0) * through;
  vec3 base = c.rgb * (0.44 + 0.16 * m.z + 0.52 * direct) + 0.16 * gloss;
  pixel = vec4(base, c.a);
}`;
const lineVertex = head + `
uniform mat4 view; in vec3 at; in vec4 tint; out vec4 c;
void main() { c = tint; gl_Position = view * vec4(at, 1.0); gl_PointSize = 5.0; }`;
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

// box has rounded edges: corner is which of the eight a point belongs to, and normal where it is around it.
function box(steps = 2) {
  const v = [], n = [], t = [], angles = [];
  for (const sign of [-1, 1]) for (let i = 0; i <= steps; i++) angles.push([sign, Math.tan((sign < 0 ? i / steps - 1 : i / steps) * Math.PI / 4)]);
  const row = angles.length;
  for (let axis = 0; axis < 3; axis++) {
    for (const s of [1, -1]) {
      const first = v.length / 4;
      for (const [sa, a] of angles) {
        for (const [sb, b] of angles) {
          const corner = [0, 0, 0], m = [0, 0, 0], l = Math.hypot(1, a, b);
          [corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]] = [s, sa, sb];
          [m[axis], m[(axis + 1) % 3], m[(axis + 2) % 3]] = [s / l, a / l, b / l];
          v.push(...corner, 0);
          n.push(...m);
        }
      }
      for (let i = 0; i + 1 < row; i++) for (let k = 0; k + 1 < row; k++) { const at = first + i * row + k; t.push(at, at + row, at + 1, at + 1, at + row, at + row + 1); }
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
  let reach = 0; // m, of the farthest corner from the mesh's origin
  for (let i = 0; i < p.length; i += 9) {
    const a = [p[i + 3] - p[i], p[i + 4] - p[i + 1], p[i + 5] - p[i + 2]], b = [p[i + 6] - p[i], p[i + 7] - p[i + 1], p[i + 8] - p[i + 2]];
    const up = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], l = Math.hypot(...up) || 1;
    for (let k = i; k < i + 9; k += 3) {
      v.push(p[k], p[k + 1], p[k + 2], 0);
      reach = Math.max(reach, Math.hypot(p[k], p[k + 1], p[k + 2]));
      n.push(up[0] / l, up[1] / l, up[2] / l);
    }
  }
  return { v, n, t: Array.from({ length: 3 * count }, (_, i) => i), whole, count, reach };
}

const sun = [0.45, -0.35, 0.82].map((v) => v / Math.hypot(0.45, 0.35, 0.82)); // where the light is

export const stride = 21; // floats an instance: three rows, size, colour, id

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "low-power" });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.canvas = canvas;
    this.solid = this.program(vertex, fragment);
    this.flat = this.program(vertex, depthFragment);
    this.shade();
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

  // shade makes the map of what the light meets first.
  shade() {
    const gl = this.gl;
    this.map = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.map);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, 1024, 1024);
    for (const [k, x] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL]]) gl.texParameteri(gl.TEXTURE_2D, k, x);
    this.shadowFrame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.map, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.light = new Float32Array(16);
  }

  // shadows draws the map around the place that is looked at; radius is in m.
  shadows(batches, centre, radius) {
    const gl = this.gl, [x, y, z] = [[-sun[1], sun[0], 0], null, sun], l = Math.hypot(x[0], x[1]);
    const a = x.map((k) => k / l), b = [z[1] * a[2] - z[2] * a[1], z[2] * a[0] - z[0] * a[2], z[0] * a[1] - z[1] * a[0]], dot = (u) => u[0] * centre[0] + u[1] * centre[1] + u[2] * centre[2];
    const r = 1 / radius;
    this.light.set([a[0] * r, b[0] * r, -z[0] * r / 2, 0, a[1] * r, b[1] * r, -z[1] * r / 2, 0, a[2] * r, b[2] * r, -z[2] * r / 2, 0, -dot(a) * r, -dot(b) * r, dot(z) * r / 2, 1]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, 1024, 1024);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.flat);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.flat, "view"), false, this.light);
    for (const m of batches) {
      if (!m.count || m.ghost || m.ground) continue;
      gl.uniform1f(gl.getUniformLocation(this.flat, "round"), m.mesh === "box" ? 0.3 : 0);
      this.instances(m);
    }
    gl.bindVertexArray(null);
  }

  instances(b) {
    const gl = this.gl, m = this.meshes.get(b.mesh);
    gl.bindVertexArray(m.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, m.instances);
    gl.bufferData(gl.ARRAY_BUFFER, b.data.subarray(0, b.count * stride), gl.DYNAMIC_DRAW);
    gl.drawElementsInstanced(gl.TRIANGLES, m.count, gl.UNSIGNED_INT, 0, b.count);
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
    // All programs find an attribute at the same place, so that a mesh's array fits each.
    for (const [i, name] of (v === vertex ? ["corner", "normal", "row0", "row1", "row2", "size", "colour", "id"] : ["at", "tint"]).entries()) gl.bindAttribLocation(p, i, name);
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

  mesh(name, { v, n, t, reach }) {
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
    this.meshes.set(name, { array, instances, count: t.length, reach });
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
    this.shadows(batches, camera.target, Math.max(0.3, camera.distance * 0.6));
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
    gl.uniform3fv(u("sun"), sun);
    gl.uniform4f(u("cut"), ...camera.target.map((t, i) => (t - camera.eye[i]) / camera.distance), camera.distance + 0.8 * camera.radius);
    gl.uniformMatrix4fv(u("light"), false, this.light);
    gl.bindTexture(gl.TEXTURE_2D, this.map);
    for (const b of batches) {
      if (!b.count || picking && b.ghost) continue;
      gl.uniform1f(u("ground"), b.ground ? 1 : 0);
      gl.uniform1f(u("round"), b.mesh === "box" ? 0.3 : 0);
      if (b.ground) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE); // from below it hides nothing
      if (b.ghost) { gl.enable(gl.BLEND); gl.depthMask(false); }
      this.instances(b);
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
  radius = 0; // m, of what is looked at
  floor = -Infinity; // m: the eye stays above it
  matrix = new Float32Array(16);
  eye = [0, 0, 0];

  update(aspect) {
    this.distance = Math.max(0.05, Math.min(300, this.distance));
    this.pitch = Math.max(-1.5, Math.min(1.57, this.pitch));
    const least = (this.floor - this.target[2]) / this.distance + 0.03;
    if (least > -1) this.pitch = Math.max(this.pitch, Math.asin(Math.min(0.99, least)));
    const cp = Math.cos(this.pitch), back = [cp * Math.cos(this.yaw), cp * Math.sin(this.yaw), Math.sin(this.pitch)];
    const right = [-Math.sin(this.yaw), Math.cos(this.yaw), 0];
    const up = [-Math.sin(this.pitch) * Math.cos(this.yaw), -Math.sin(this.pitch) * Math.sin(this.yaw), cp];
    this.aspect = aspect;
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

  // fit moves the camera so that points, x y z r each, fill two thirds of the picture.
  fit(points, aspect) {
    const k = 0.667 * Math.tan(0.4);
    this.update(aspect);
    for (let turn = 0; turn < 4; turn++) {
      const back = this.eye.map((e, i) => (e - this.target[i]) / this.distance), box = [Infinity, Infinity, -Infinity, -Infinity];
      let far = 0.2;
      for (let i = 0; i < points.length; i += 4) {
        const d = [points[i] - this.target[0], points[i + 1] - this.target[1], points[i + 2] - this.target[2]], on = (v) => d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
        const x = on(this.right), y = on(this.up), z = on(back), r = points[i + 3];
        box[0] = Math.min(box[0], x - r); box[1] = Math.min(box[1], y - r); box[2] = Math.max(box[2], x + r); box[3] = Math.max(box[3], y + r);
        far = Math.max(far, z + (Math.abs(x) + r) / (k * aspect), z + (Math.abs(y) + r) / k);
      }
      const x = (box[0] + box[2]) / 2, y = (box[1] + box[3]) / 2;
      this.target = this.target.map((t, i) => t + x * this.right[i] + y * this.up[i]);
      this.distance = far;
      this.radius = Math.hypot(box[2] - box[0], box[3] - box[1]) / 2;
      this.update(aspect);
    }
  }

  // project is where a point is in the picture, 0 to 1 from its left and top; null = behind the eye.
  project(p) {
    const m = this.matrix, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    if (w <= 0) return null;
    return [0.5 + (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w / 2, 0.5 - (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w / 2];
  }
}
