// Code page 437, in which archives have names that are not marked as UTF-8.

const UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
  "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Returns the text of bytes in code page 437. */
export function decodeCodePage(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte < 128 ? String.fromCharCode(byte) : UPPER[byte - 128])
    .join("");
}
