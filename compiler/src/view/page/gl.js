// Programs and textures of WebGL 2.

export function openGraphics(canvas) {
  return canvas.getContext("webgl2", { alpha: false, antialias: true, powerPreference: "high-performance" });
}

// A program with the places of its uniforms by name.
export class ShaderProgram {
  constructor(gl, vertex, fragment) {
    this.gl = gl;
    this.program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\n" + text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader) || "a shader cannot be compiled");
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(this.program) || "a program cannot be linked");
    this.places = new Map();
  }

  use() {
    this.gl.useProgram(this.program);
  }

  place(name) {
    if (!this.places.has(name)) this.places.set(name, this.gl.getUniformLocation(this.program, name));
    return this.places.get(name);
  }

  // Numbers and arrays of two to four become floats, arrays of 16 a matrix.
  set(values) {
    const { gl } = this;
    for (const [name, value] of Object.entries(values)) {
      const place = this.place(name);
      if (!place) continue;
      if (typeof value === "boolean") gl.uniform1i(place, value ? 1 : 0);
      else if (typeof value === "number") gl.uniform1f(place, value);
      else if (value.length === 2) gl.uniform2fv(place, value);
      else if (value.length === 3) gl.uniform3fv(place, value);
      else if (value.length === 4) gl.uniform4fv(place, value);
      else gl.uniformMatrix4fv(place, false, value);
    }
  }

  setInteger(name, value) {
    this.gl.uniform1i(this.place(name), value);
  }
}

// A texture that is filled again and again; it is made anew only if size or format change.
export class DataTexture {
  constructor(gl, smooth = false) {
    this.gl = gl;
    this.texture = gl.createTexture();
    this.key = "";
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    const filter = smooth ? gl.LINEAR : gl.NEAREST;
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
  }

  fill(width, height, channels, samples) {
    const { gl } = this;
    const bytes = samples instanceof Uint8Array;
    const format = [gl.RED, gl.RG, gl.RGB, gl.RGBA][channels - 1];
    const stored = (bytes ? [gl.R8, gl.RG8, gl.RGB8, gl.RGBA8] : [gl.R32F, gl.RG32F, gl.RGB32F, gl.RGBA32F])[channels - 1];
    const type = bytes ? gl.UNSIGNED_BYTE : gl.FLOAT;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const key = [width, height, stored].join();
    if (key === this.key) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, format, type, samples);
    else gl.texImage2D(gl.TEXTURE_2D, 0, stored, width, height, 0, format, type, samples);
    this.key = key;
  }

  bind(unit) {
    this.gl.activeTexture(this.gl.TEXTURE0 + unit);
    this.gl.bindTexture(this.gl.TEXTURE_2D, this.texture);
  }

  release() {
    this.gl.deleteTexture(this.texture);
  }
}
