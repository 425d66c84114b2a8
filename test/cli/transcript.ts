/** A standard error, of a terminal or not, that keeps what it is told. */
export class Transcript {
  readonly isTTY: boolean;
  text = '';

  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }
}
