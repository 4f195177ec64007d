// The checksum of a document, as sheet/packing.py has it: of each value its kind and its bits, names in their order.
const TABLE = Int32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});
const double = new Float64Array(1), bytes = new Uint8Array(double.buffer);
const little = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export function seal(document) {
  let crc = -1;
  const byte = (each) => (crc = TABLE[(crc ^ each) & 255] ^ (crc >>> 8));
  const number = (x) => {
    double[0] = x;
    if (!little) bytes.reverse();
    for (let i = 0; i < 8; i++) byte(bytes[i]);
  };
  const text = (string) => {
    number(string.length);
    for (let i = 0; i < string.length; i++) {
      const unit = string.charCodeAt(i);
      byte(unit & 255);
      byte(unit >> 8);
    }
  };
  const add = (value) => {
    if (typeof value === "number") number(value);
    else if (typeof value === "string") text(value);
    else if (value === null) byte(0);
    else if (typeof value === "boolean") byte(value ? 2 : 1);
    else if (Array.isArray(value)) {
      byte(3);
      number(value.length);
      value.forEach(add);
    } else {
      const names = Object.keys(value).sort();
      byte(4);
      number(names.length);
      for (const name of names) {
        text(name);
        add(value[name]);
      }
    }
  };
  add(document);
  return (crc ^ -1) >>> 0;
}
