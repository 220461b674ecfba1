"use strict";
/* SHA-256, numpy's SeedSequence and PCG64's raw stream, in whole numbers of 32 bits: the same draws on every machine. */
const sandscoreDraws = (() => {
  const PRIMES = (() => {
    const found = [];
    for (let n = 2; found.length < 64; n += 1) if (found.every((p) => n % p)) found.push(n);
    return found;
  })();
  const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  const ROUNDS = PRIMES.map((p) => fraction(Math.cbrt(p)));
  const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));

  const sha256 = (bytes) => {
    const length = bytes.length;
    const blocks = (length + 72) >> 6;
    const padded = new Uint8Array(blocks * 64);
    padded.set(bytes);
    padded[length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padded.length - 4, (length << 3) >>> 0);
    const hash = Uint32Array.from(START);
    const w = new Uint32Array(64);
    for (let block = 0; block < blocks; block += 1) {
      for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(block * 64 + 4 * i);
      for (let i = 16; i < 64; i += 1) {
        const x = w[i - 15], y = w[i - 2];
        const s = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const t = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[i] = (w[i - 16] + s + w[i - 7] + t) | 0;
      }
      let [a, b, c, d, e, f, g, h] = hash;
      for (let i = 0; i < 64; i += 1) {
        const s = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const one = (h + s + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
        const t = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const two = (t + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
      }
      [a, b, c, d, e, f, g, h].forEach((value, i) => { hash[i] += value; });
    }
    return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
  };

  const seedWords = (entropy, count) => {
    let constant = 0x43b0d7e5;
    const hashed = (value) => {
      value ^= constant;
      constant = Math.imul(constant, 0x931e8875);
      value = Math.imul(value, constant);
      return value ^ (value >>> 16);
    };
    const mixed = (x, y) => {
      const value = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
      return value ^ (value >>> 16);
    };
    const pool = [0, 1, 2, 3].map((i) => hashed(entropy[i] ?? 0));
    for (let from = 0; from < 4; from += 1) {
      for (let to = 0; to < 4; to += 1) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
    }
    for (let from = 4; from < entropy.length; from += 1) {
      for (let to = 0; to < 4; to += 1) pool[to] = mixed(pool[to], hashed(entropy[from]));
    }
    let last = 0x8b51f9dd;
    return Array.from({ length: count }, (_, i) => {
      let value = pool[i % 4] ^ last;
      last = Math.imul(last, 0x58f38ded);
      value = Math.imul(value, last);
      return (value ^ (value >>> 16)) >>> 0;
    });
  };

  /* The upper half of a product. */
  const high = (a, b) => {
    const ah = a >>> 16, al = a & 65535, bh = b >>> 16, bl = b & 65535;
    const u = (Math.imul(ah, bl) >>> 0) + (Math.imul(al, bl) >>> 16);
    const v = (Math.imul(al, bh) >>> 0) + (u & 65535);
    return (Math.imul(ah, bh) + (u >>> 16) + (v >>> 16)) >>> 0;
  };

  /* 0x2360ED051FC65DA44385DF649FCCF645, lowest word first. */
  const M0 = 0x9fccf645, M1 = 0x4385df64, M2 = 0x1fc65da4, M3 = 0x2360ed05;
  const OVER = 2 ** 32;

  class Stream {
    /* ``entropy``: the seed's words of 32 bits, lowest first. */
    constructor(entropy) {
      const [b, a, d, c, f, e, h, g] = seedWords(entropy, 8);
      const initial = [d, c, b, a], sequence = [h, g, f, e];
      this.increment = Uint32Array.from(sequence, (word, i) => (word << 1) | (i ? sequence[i - 1] >>> 31 : 1));
      this.state = new Uint32Array(4);
      this.step();
      let carry = 0;
      for (let i = 0; i < 4; i += 1) {
        carry += this.state[i] + initial[i];
        this.state[i] = carry;
        carry = Math.floor(carry / 2 ** 32);
      }
      this.step();
      this.low = 0;
      this.top = 0;
    }

    step() {
      const s = this.state, c = this.increment;
      const a0 = s[0], a1 = s[1], a2 = s[2], a3 = s[3];
      let sum = (Math.imul(a0, M0) >>> 0) + c[0];
      s[0] = sum;
      sum = (sum >= OVER ? 1 : 0) + (Math.imul(a0, M1) >>> 0) + (Math.imul(a1, M0) >>> 0) + high(a0, M0) + c[1];
      s[1] = sum;
      sum = Math.floor(sum / OVER) + (Math.imul(a0, M2) >>> 0) + (Math.imul(a1, M1) >>> 0) + (Math.imul(a2, M0) >>> 0)
        + high(a0, M1) + high(a1, M0) + c[2];
      s[2] = sum;
      s[3] = Math.floor(sum / OVER) + Math.imul(a0, M3) + Math.imul(a1, M2) + Math.imul(a2, M1) + Math.imul(a3, M0)
        + high(a0, M2) + high(a1, M1) + high(a2, M0) + c[3];
    }

    /* The next 64 bits, in ``top`` and ``low``. */
    next() {
      this.step();
      const s = this.state;
      let low = s[0] ^ s[2], top = s[1] ^ s[3];
      let turn = s[3] >>> 26;
      if (turn & 32) { const other = low; low = top; top = other; }
      turn &= 31;
      this.low = (turn ? (low >>> turn) | (top << (32 - turn)) : low) >>> 0;
      this.top = (turn ? (top >>> turn) | (low << (32 - turn)) : top) >>> 0;
    }

    /* One of so many, from the upper half of 64 bits. */
    among(count) {
      this.next();
      return high(this.top, count);
    }
  }

  /* The words of a seed written 0x and sixteen digits; numpy leaves out an upper word that is nothing. */
  const wordsOf = (seed) => {
    const top = Number.parseInt(seed.slice(2, 10), 16), low = Number.parseInt(seed.slice(10), 16);
    return top ? [low, top] : [low];
  };

  return { sha256, Stream, wordsOf };
})();
