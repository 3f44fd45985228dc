// Draws points, polylines and triangles with the page's own camera, coloured by another output if one is chosen.

import { DataTexture, ShaderProgram } from "./gl.js";
import { cameraFrame, cameraMatrix, lengthVec, subVec } from "./camera.js";
import { statisticsOfValues } from "./grid.js";

// Colours: mode 0 is plain, 1 a value in the map, 2 a colour.
const TINTING = `
uniform sampler2D map;
uniform float mode, gamma, fog;
uniform vec2 range;
uniform vec3 plain, outside;
uniform bool diverging;
vec3 tinted(vec3 tint) {
  if (mode == 0.0) return plain;
  if (mode == 2.0) return clamp((tint - range.x) / (range.y - range.x), 0.0, 1.0);
  float x = tint.x;
  if ((floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u) return vec3(1.0, 0.0, 0.9);
  float t = pow(clamp((x - range.x) / (range.y - range.x), 0.0, 1.0), 1.0 / gamma);
  if (diverging) {
    float d = clamp(x / max(abs(range.x), abs(range.y)), -1.0, 1.0);
    t = 0.5 + 0.5 * sign(d) * pow(abs(d), 1.0 / gamma);
  }
  return texture(map, vec2(t * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
}
vec3 faded(vec3 c, float depth) { return mix(c, outside, fog * smoothstep(-1.0, 1.0, depth)); }
`;

const POINTS_VERTEX = `
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 tint;
uniform mat4 matrix;
uniform vec3 eye, ahead;
uniform float size, reach, flip, radius;
out vec3 color;
out float depth, pixels;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  gl_Position.y *= flip;
  depth = clamp((dot(position - eye, ahead) - reach) / radius, -1.0, 1.0);
  pixels = clamp(gl_Position.w == 1.0 ? size : size * reach / max(gl_Position.w, 1e-9), 1.0, 128.0);
  gl_PointSize = pixels;
  color = tint;
}`;

const POINTS_FRAGMENT = TINTING + `
in vec3 color;
in float depth, pixels;
uniform bool flat2;
out vec4 result;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = dot(p, p);
  if (r > 1.0 && pixels > 1.5) discard;
  vec3 c = tinted(color);
  if (pixels > 3.5 && !flat2) {
    vec3 normal = vec3(p.x, -p.y, sqrt(max(0.0, 1.0 - r)));
    float light = max(0.0, dot(normal, normalize(vec3(-0.4, 0.6, 0.8))));
    c = c * (0.45 + 0.62 * light) + 0.18 * pow(light, 24.0);
  }
  // The edge of a disc is smooth: its opacity becomes the part of the pixel's samples that are covered.
  result = vec4(faded(c, depth), pixels > 1.5 ? clamp((1.0 - sqrt(r)) * 0.5 * pixels + 0.5, 0.0, 1.0) : 1.0);
}`;

// Every segment is a rectangle that faces the viewer; `last` marks the end of a polyline, after which there is no segment.
const LINES_VERTEX = `
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec3 tintFrom;
layout(location = 3) in vec3 tintTo;
layout(location = 4) in float last;
uniform mat4 matrix;
uniform vec3 eye, ahead;
uniform vec2 screen;
uniform float size, reach, flip, radius;
out vec3 color;
out float depth, side;
void main() {
  vec4 a = matrix * vec4(from, 1.0);
  vec4 b = matrix * vec4(to, 1.0);
  a.y *= flip;
  b.y *= flip;
  if (last > 0.5 || a.w <= 0.0 || b.w <= 0.0) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  vec2 along = (b.xy / b.w - a.xy / a.w) * screen;
  float length = length(along);
  along = length > 0.0 ? along / length : vec2(1.0, 0.0);
  bool end = gl_VertexID > 1;
  side = gl_VertexID % 2 == 0 ? -1.0 : 1.0;
  vec4 here = end ? b : a;
  float wide = max(1.0, here.w == 1.0 ? size : clamp(size * reach / here.w, 0.5 * size, 4.0 * size));
  vec2 shift = (vec2(-along.y, along.x) * side + along * (end ? 0.5 : -0.5)) * wide / screen;
  gl_Position = here + vec4(shift * here.w, 0.0, 0.0);
  depth = clamp((dot((end ? to : from) - eye, ahead) - reach) / radius, -1.0, 1.0);
  color = end ? tintTo : tintFrom;
}`;

const LINES_FRAGMENT = TINTING + `
in vec3 color;
in float depth, side;
uniform float size;
out vec4 result;
void main() {
  float round = sqrt(max(0.0, 1.0 - side * side));
  vec3 c = tinted(color) * (size > 2.5 ? 0.55 + 0.5 * round : 1.0);
  result = vec4(faded(c, depth), 1.0);
}`;

const TRIANGLES_VERTEX = `
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 tint;
layout(location = 2) in vec3 normal;
uniform mat4 matrix;
uniform vec3 eye, ahead;
uniform float reach, flip, radius;
out vec3 color, at, across;
out float depth;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  gl_Position.y *= flip;
  depth = clamp((dot(position - eye, ahead) - reach) / radius, -1.0, 1.0);
  at = position;
  across = normal;
  color = tint;
}`;

// Light comes from behind the viewer, above and to the left; both sides of a triangle are lit alike.
const TRIANGLES_FRAGMENT = TINTING + `
in vec3 color, at, across;
in float depth;
uniform vec3 light, toEye;
uniform bool rounded, flat2;
out vec4 result;
void main() {
  vec3 c = tinted(color);
  if (!flat2) {
    vec3 n = cross(dFdx(at), dFdy(at));
    if (rounded && dot(across, across) > 0.0) n = across;
    n = normalize(n);
    if (dot(n, toEye) < 0.0) n = -n;
    float shine = pow(max(0.0, dot(n, normalize(light + toEye))), 40.0);
    c = c * (0.3 + 0.75 * max(0.0, dot(n, light))) + 0.12 * shine;
  }
  result = vec4(faded(c, depth), 1.0);
}`;

const BOX_VERTEX = `
uniform mat4 matrix;
uniform vec3 low, high;
uniform float flip;
void main() {
  int edge = gl_VertexID / 2, end = gl_VertexID % 2, axis = edge / 4, k = edge % 4;
  vec3 part = vec3(0.0);
  part[axis] = float(end);
  part[(axis + 1) % 3] = float(k % 2);
  part[(axis + 2) % 3] = float(k / 2);
  gl_Position = matrix * vec4(mix(low, high, part), 1.0);
  gl_Position.y *= flip;
}`;
const BOX_FRAGMENT = `
uniform vec3 plain;
out vec4 result;
void main() { result = vec4(plain, 1.0); }`;

const COLOR_NAME = /colou?r|rgb/i;

// The sections that points can be coloured by.
export function colorSections(frame) {
  return Object.values(frame.sections ?? {}).filter((section) => {
    if (section.name === "positions" || section.name === "lengths" || section.type !== "f32") return false;
    return section.components === 1 || (section.components === 3 && !/normal/i.test(section.name));
  });
}

export function isColorSection(section) {
  return section.components === 3 && COLOR_NAME.test(section.name);
}

// The values of a section for every point, as triples; numbers of strands are repeated for all their points. Null if they do not fit.
export function tintsOf(frame, section) {
  const { points, sections, header } = frame;
  const { values, components } = section;
  const count = values.length / components;
  const tints = new Float32Array(3 * points);
  const color = isColorSection(section);
  const put = (point, from) => {
    if (components === 1) tints[3 * point] = values[from];
    else if (color) tints.set(values.subarray(3 * from, 3 * from + 3), 3 * point);
    else tints[3 * point] = Math.hypot(values[3 * from], values[3 * from + 1], values[3 * from + 2]);
  };
  const lengths = sections.lengths?.values;
  if (count === points && !(section.per === "strand" && lengths && lengths.length === count && header.kind === "lines")) {
    for (let k = 0; k < points; k++) put(k, k);
  } else if (lengths && lengths.length === count) {
    const each = header.kind === "triangles" && lengths.reduce((sum, n) => sum + n, 0) * 3 === points ? 3 : 1;
    let point = 0;
    for (let strand = 0; strand < count; strand++) for (let k = 0; k < lengths[strand] * each && point < points; k++) put(point++, strand);
  } else if (header.kind === "triangles" && count * 3 === points) {
    for (let k = 0; k < points; k++) put(k, Math.floor(k / 3));
  } else {
    return null;
  }
  return tints;
}

// The box around all finite positions; used where the server's bounds are missing.
function boundsOf(positions) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k < positions.length; k++) {
    const x = positions[k];
    if (!Number.isFinite(x)) continue;
    if (x < low[k % 3]) low[k % 3] = x;
    if (x > high[k % 3]) high[k % 3] = x;
  }
  return low.every((x, k) => x <= high[k]) ? [low, high] : [[-1, -1, -1], [1, 1, 1]];
}

export class GeometryView {
  constructor(gl) {
    this.gl = gl;
    this.programs = {
      points: new ShaderProgram(gl, POINTS_VERTEX, POINTS_FRAGMENT),
      lines: new ShaderProgram(gl, LINES_VERTEX, LINES_FRAGMENT),
      triangles: new ShaderProgram(gl, TRIANGLES_VERTEX, TRIANGLES_FRAGMENT),
      box: new ShaderProgram(gl, BOX_VERTEX, BOX_FRAGMENT),
    };
    this.buffers = { positions: gl.createBuffer(), tints: gl.createBuffer(), normals: gl.createBuffer(), last: gl.createBuffer() };
    this.vertices = gl.createVertexArray();
    this.nothing = gl.createVertexArray();
    this.map = new DataTexture(gl, true);
    this.mapColors = null;
    this.frame = null;
    this.colored = null;
    this.statistics = statisticsOfValues([]);
  }

  setFrame(frame, display) {
    const { gl } = this;
    if (frame !== this.frame) {
      this.frame = frame;
      this.tinted = false;
      const given = frame.header.bounds;
      const usable = Array.isArray(given) && given.length === 2 && given.every((corner) => Array.isArray(corner) && corner.length >= 2 && corner.every(Number.isFinite));
      this.bounds = usable ? given.map((corner) => [corner[0], corner[1], corner[2] ?? 0]) : boundsOf(frame.sections.positions.values);
      this.fill("positions", frame.sections.positions.values);
      const normals = Object.values(frame.sections).find((section) => /normal/i.test(section.name) && section.values.length === 3 * frame.points);
      this.rounded = frame.header.kind === "triangles" && Boolean(normals);
      if (this.rounded) this.fill("normals", normals.values);
      if (frame.header.kind === "lines") this.fill("last", endsOf(frame));
    }
    const wanted = colorSections(frame).find((section) => section.name === display.colorBy) ?? null;
    if (wanted !== this.colored || !this.tinted) {
      this.colored = wanted;
      const tints = wanted ? tintsOf(frame, wanted) : null;
      this.mode = tints ? (isColorSection(wanted) ? 2 : 1) : 0;
      if (tints) this.fill("tints", tints);
      this.statistics = this.mode === 1 ? statisticsOfValues(finiteOnes(tints)) : statisticsOfValues([]);
      this.tinted = true;
    }
    gl.bindVertexArray(null);
  }

  fill(name, values) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  }

  attribute(place, name, components, offset = 0, divisor = 0, on = true) {
    const { gl } = this;
    if (!on) {
      gl.disableVertexAttribArray(place);
      gl.vertexAttrib3f(place, 0, 0, 0);
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, components, gl.FLOAT, false, 4 * components, offset);
    gl.vertexAttribDivisor(place, divisor);
  }

  draw(camera, look) {
    const { gl, frame } = this;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    gl.viewport(0, 0, width, height);
    gl.clearColor(...look.outside, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!frame || !camera) return;
    const { kind, dimension } = frame.header;
    const { display } = look;
    const flat = dimension === 2;
    const [low, high] = this.bounds;
    const middle = low.map((x, k) => (x + high[k]) / 2);
    const radius = (lengthVec(subVec(high, low)) / 2 || 1) * 1.02;
    const matrix = cameraMatrix(camera, width / height, radius + lengthVec(subVec(camera.look, middle)) + (flat ? lengthVec(subVec(camera.eye, camera.look)) * 0.5 : 0));
    const { ahead, right, up, distance } = cameraFrame(camera);
    const flip = flat && display.flip ? -1 : 1;
    const light = [0, 1, 2].map((k) => -ahead[k] + 0.7 * up[k] - 0.5 * right[k]);
    const lightLength = lengthVec(light);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    if (!flat && display.box) {
      this.programs.box.use();
      this.programs.box.set({ matrix, low, high, flip, plain: look.outside.map((x, k) => x * 0.72 + look.ink[k] * 0.28) });
      gl.bindVertexArray(this.nothing);
      gl.drawArrays(gl.LINES, 0, 24);
    }
    const program = this.programs[kind];
    program.use();
    if (this.mapColors !== look.map.colors) {
      this.mapColors = look.map.colors;
      this.map.fill(256, 1, 4, look.map.colors);
    }
    this.map.bind(0);
    program.setInteger("map", 0);
    program.set({
      matrix, flip, ahead, radius, light: light.map((x) => x / lightLength), toEye: ahead.map((x) => -x), eye: camera.eye,
      reach: distance, size: this.sizeOf(display, height / look.ratio) * look.ratio, screen: [width, height], flat2: flat, rounded: Boolean(this.rounded && display.rounded),
      mode: this.mode, gamma: display.gamma, range: this.mode === 2 ? [0, 1] : look.range, diverging: look.map.diverging,
      fog: flat ? 0 : display.fog ?? automaticFog(frame), outside: look.outside, plain: look.dark ? [0.55, 0.74, 0.95] : [0.16, 0.36, 0.62],
    });
    gl.bindVertexArray(this.vertices);
    for (let place = 0; place < 5; place++) {
      gl.disableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 0);
    }
    const tinted = this.mode > 0;
    if (kind === "points") gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    if (kind === "lines") {
      this.attribute(0, "positions", 3, 0, 1);
      this.attribute(1, "positions", 3, 12, 1);
      this.attribute(2, "tints", 3, 0, 1, tinted);
      this.attribute(3, "tints", 3, 12, 1, tinted);
      this.attribute(4, "last", 1, 0, 1);
      if (frame.points > 1) gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, frame.points - 1);
    } else {
      this.attribute(0, "positions", 3);
      this.attribute(1, "tints", 3, 0, 0, tinted);
      if (kind === "triangles") this.attribute(2, "normals", 3, 0, 0, this.rounded);
      gl.drawArrays(kind === "points" ? gl.POINTS : gl.TRIANGLES, 0, kind === "points" ? frame.points : frame.points - (frame.points % 3));
    }
    gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    gl.bindVertexArray(null);
  }

  // The size of points and the width of lines in CSS pixels; without a choice, many points are small.
  sizeOf(display, height) {
    if (typeof display.size === "number") return display.size;
    return automaticSize(this.frame, height);
  }
}

// Light and shadow already tell the depth of surfaces; points and lines have nothing else.
export function automaticFog(frame) {
  return frame?.header.kind === "triangles" ? 0.25 : 0.55;
}

export function automaticSize(frame, height) {
  if (!frame || frame.header.kind !== "points") return 2;
  return Math.min(7, Math.max(1.5, (0.7 * height) / Math.sqrt(frame.points + 1)));
}

// 1 at the last point of every polyline, and for points that belong to none.
function endsOf(frame) {
  const last = new Float32Array(frame.points).fill(1);
  let point = 0;
  for (const length of frame.sections.lengths.values) {
    for (let k = 0; k + 1 < length; k++) last[point + k] = 0;
    point += length;
  }
  return last;
}

function finiteOnes(tints) {
  const values = [];
  const skip = 3 * Math.max(1, Math.floor(tints.length / 600000));
  for (let k = 0; k < tints.length; k += skip) if (Number.isFinite(tints[k])) values.push(tints[k]);
  return values;
}
