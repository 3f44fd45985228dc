// Draws grids of numbers as pictures: colour maps, ranges, two pictures side by side, and their difference.

import { AS_COLOR, AS_MAGNITUDE } from "./grid.js";
import { DataTexture, ShaderProgram } from "./gl.js";

const PICTURE_VERTEX = `
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

// `live` and `pinned` are described by (columns, rows, stride, kind), where kind tells how colours and opacity are stored.
const PICTURE_FRAGMENT = `
uniform sampler2D live, pinned, map, differenceMap;
uniform vec4 liveGrid, pinnedGrid;
uniform vec3 liveCode, pinnedCode;
uniform vec2 liveFull, pinnedFull;
uniform float channel, shade, gamma, split, pixel, reach;
uniform vec2 range, screen, corner;
uniform bool diverging, hatched, smoothed, difference, checkered, mapped;
uniform vec3 background, outside;
out vec4 result;

const vec3 notANumber = vec3(1.0, 0.0, 0.9);

bool missing(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

vec4 read(sampler2D grid, ivec2 at, vec3 code) {
  vec4 v = texelFetch(grid, at, 0);
  if (code.z == 0.0) return v;
  vec4 c = v * 255.0;
  vec4 x = code.x + (code.y - code.x) * c / 254.0;
  float nan = uintBitsToFloat(0x7fc00000u);
  return vec4(c.r > 254.5 ? nan : x.r, c.g > 254.5 ? nan : x.g, c.b > 254.5 ? nan : x.b, c.a > 254.5 ? nan : x.a);
}

float chosen(vec4 v, float channels) {
  if (channel == 4.0) {
    float sum = v.r * v.r;
    if (channels > 1.0) sum += v.g * v.g;
    if (channels > 2.0) sum += v.b * v.b;
    if (channels > 3.0) sum += v.a * v.a;
    return sqrt(sum);
  }
  return channel < 0.5 ? v.r : channel < 1.5 ? v.g : channel < 2.5 ? v.b : v.a;
}

vec3 hatch(vec3 c, float above) {
  float line = abs(fract((gl_FragCoord.x + above * gl_FragCoord.y) / 9.0) - 0.5) * 9.0;
  return mix(c, vec3(dot(c, vec3(0.3, 0.6, 0.1)) > 0.5 ? 0.0 : 1.0), 0.55 * (1.0 - smoothstep(0.6, 1.6, line)));
}

// Colours: kind 1 is grey with opacity, 3 is colours, 4 is colours with opacity, 5 is colours with a fourth channel that is left out.
vec4 colored(vec4 v, float kind) {
  if (shade == 0.0) {
    float x = chosen(v, kind);
    if (missing(x)) return vec4(notANumber, 1.0);
    float t = (x - range.x) / (range.y - range.x);
    vec3 c;
    if (diverging) {
      float r = max(abs(range.x), abs(range.y));
      float d = clamp(x / r, -1.0, 1.0);
      c = texture(map, vec2((0.5 + 0.5 * sign(d) * pow(abs(d), 1.0 / gamma)) * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
    } else {
      c = texture(map, vec2(pow(clamp(t, 0.0, 1.0), 1.0 / gamma) * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
    }
    if (hatched && (t < 0.0 || t > 1.0)) c = hatch(c, t > 1.0 ? 1.0 : -1.0);
    return vec4(c, 1.0);
  }
  vec3 x = kind == 1.0 ? v.rrr : v.rgb;
  float opacity = kind == 1.0 ? v.g : kind == 4.0 ? v.a : 1.0;
  if (missing(x.r) || missing(x.g) || missing(x.b) || missing(opacity)) return vec4(notANumber, 1.0);
  vec3 t = (x - range.x) / (range.y - range.x);
  vec3 c = clamp(t, 0.0, 1.0);
  if (gamma != 1.0) c = pow(c, vec3(1.0 / gamma));
  if (hatched && (any(lessThan(t, vec3(-0.0005))) || any(greaterThan(t, vec3(1.0005))))) c = hatch(c, any(greaterThan(t, vec3(1.0005))) ? 1.0 : -1.0);
  return vec4(c, clamp(opacity, 0.0, 1.0));
}

vec4 tap(sampler2D grid, vec4 form, vec3 code, ivec2 at) {
  return colored(read(grid, clamp(at, ivec2(0), ivec2(form.xy) - 1), code), form.w);
}

vec4 over(vec4 a, vec4 b, float t) {
  float w = mix(a.a, b.a, t);
  return vec4(w > 0.0 ? mix(a.rgb * a.a, b.rgb * b.a, t) / w : vec3(0.0), w);
}

// The colour at a position in which integers are the middles of pixels of the full grid.
vec4 sampled(sampler2D grid, vec4 form, vec3 code, vec2 at, float size) {
  vec2 c = clamp(at / form.z, vec2(0.0), form.xy - 1.0);
  float taps = clamp(ceil(0.75 / (size * form.z)), 1.0, 6.0);
  if (taps > 1.0) {
    vec4 sum = vec4(0.0);
    for (float j = 0.5; j < taps; j += 1.0) {
      for (float i = 0.5; i < taps; i += 1.0) {
        vec2 near = c + (vec2(i, j) / taps - 0.5) / (size * form.z);
        vec4 one = tap(grid, form, code, ivec2(floor(near + 0.5)));
        sum += vec4(one.rgb * one.a, one.a);
      }
    }
    return vec4(sum.a > 0.0 ? sum.rgb / sum.a : vec3(0.0), sum.a / (taps * taps));
  }
  vec2 base = floor(c);
  vec2 part = c - base;
  if (!smoothed && form.z == 1.0) part = clamp((part - 0.5) * size + 0.5, 0.0, 1.0);
  ivec2 k = ivec2(base);
  vec4 row = part.x < 1.0 ? tap(grid, form, code, k) : vec4(0.0);
  if (part.x > 0.0) row = over(row, tap(grid, form, code, k + ivec2(1, 0)), part.x);
  if (part.y <= 0.0) return row;
  vec4 next = part.x < 1.0 ? tap(grid, form, code, k + ivec2(0, 1)) : vec4(0.0);
  if (part.x > 0.0) next = over(next, tap(grid, form, code, k + ivec2(1, 1)), part.x);
  return over(row, next, part.y);
}

vec4 subtracted(vec2 at, vec2 other) {
  ivec2 a = ivec2(floor(clamp(at / liveGrid.z, vec2(0.0), liveGrid.xy - 1.0) + 0.5));
  ivec2 b = ivec2(floor(clamp(other / pinnedGrid.z, vec2(0.0), pinnedGrid.xy - 1.0) + 0.5));
  vec4 x = read(live, a, liveCode);
  vec4 y = read(pinned, b, pinnedCode);
  if (shade == 0.0) {
    float d = chosen(x, liveGrid.w) - chosen(y, pinnedGrid.w);
    if (missing(d)) return vec4(notANumber, 1.0);
    return vec4(texture(differenceMap, vec2((0.5 + 0.5 * clamp(d / reach, -1.0, 1.0)) * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb, 1.0);
  }
  vec3 d = (liveGrid.w == 1.0 ? x.rrr : x.rgb) - (pinnedGrid.w == 1.0 ? y.rrr : y.rgb);
  if (missing(d.r + d.g + d.b)) return vec4(notANumber, 1.0);
  return vec4(0.5 + 0.5 * clamp(d / reach, -1.0, 1.0), 1.0);
}

void main() {
  vec2 at = vec2(gl_FragCoord.x, screen.y - gl_FragCoord.y) - corner;
  vec2 place = at / pixel;
  if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, liveFull))) {
    result = vec4(outside, 1.0);
    return;
  }
  vec2 ratio = pinnedFull / liveFull;
  vec4 c;
  if (difference) c = subtracted(place - 0.5, place * ratio - 0.5);
  else if (gl_FragCoord.x < split) c = sampled(pinned, pinnedGrid, pinnedCode, place * ratio - 0.5, pixel / ratio.x);
  else c = sampled(live, liveGrid, liveCode, place - 0.5, pixel);
  vec3 below = background;
  if (checkered) {
    vec2 cell = floor(at / 10.0);
    below = mod(cell.x + cell.y, 2.0) < 0.5 ? vec3(0.86) : vec3(0.74);
  }
  result = vec4(mix(below, c.rgb, c.a), 1.0);
}`;

function gridKind(plane, alpha) {
  if (plane.channel !== AS_COLOR) return plane.channels;
  if (plane.channels === 2) return 1;
  return plane.channels === 4 && !alpha ? 5 : plane.channels;
}

export class PictureView {
  constructor(gl) {
    this.gl = gl;
    this.program = new ShaderProgram(gl, PICTURE_VERTEX, PICTURE_FRAGMENT);
    this.vertices = gl.createVertexArray();
    this.textures = { live: new DataTexture(gl), pinned: new DataTexture(gl) };
    this.planes = { live: null, pinned: null };
    this.maps = { map: new DataTexture(gl, true), differenceMap: new DataTexture(gl, true) };
    this.mapOf = { map: null, differenceMap: null };
    this.limit = gl.getParameter(gl.MAX_TEXTURE_SIZE) || 4096;
  }

  // `slot` is "live" or "pinned".
  setPlane(slot, plane, alpha) {
    this.planes[slot] = plane && plane.width > 0 && plane.height > 0 ? { ...plane, kind: gridKind(plane, alpha) } : null;
    if (this.planes[slot]) this.textures[slot].fill(plane.width, plane.height, plane.channels, plane.samples);
  }

  setMap(slot, colors) {
    if (this.mapOf[slot] === colors) return;
    this.mapOf[slot] = colors;
    this.maps[slot].fill(256, 1, 4, colors);
  }

  // `rect` is in pixels of the device, as are `split` and the canvas.
  draw(rect, look) {
    const { gl, program } = this;
    const live = this.planes.live;
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(...look.outside, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!live) return;
    const pinned = this.planes.pinned ?? live;
    program.use();
    ["live", "pinned"].forEach((slot, unit) => {
      this.textures[this.planes[slot] ? slot : "live"].bind(unit);
      program.setInteger(slot, unit);
    });
    ["map", "differenceMap"].forEach((slot, k) => {
      this.maps[slot].bind(2 + k);
      program.setInteger(slot, 2 + k);
    });
    const code = (plane) => [plane.scale[0], plane.scale[1], plane.encoding === "u8" ? 1 : 0];
    program.set({
      liveGrid: [live.width, live.height, live.stride, live.kind],
      pinnedGrid: [pinned.width, pinned.height, pinned.stride, pinned.kind],
      liveCode: code(live),
      pinnedCode: code(pinned),
      liveFull: live.full,
      pinnedFull: pinned.full,
      channel: live.channel === AS_MAGNITUDE ? 4 : Number(live.channel) || 0,
      shade: live.channel === AS_COLOR ? 1 : 0,
      gamma: look.gamma,
      range: look.range,
      reach: look.reach || 1,
      diverging: look.diverging,
      hatched: look.hatched,
      smoothed: look.smoothed,
      difference: Boolean(look.difference && this.planes.pinned),
      split: this.planes.pinned ? look.split : -1,
      checkered: look.background === null,
      background: look.background ?? [0, 0, 0],
      outside: look.outside,
      pixel: rect.scale,
      corner: [rect.left, rect.top],
      screen: [gl.drawingBufferWidth, gl.drawingBufferHeight],
    });
    gl.bindVertexArray(this.vertices);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
