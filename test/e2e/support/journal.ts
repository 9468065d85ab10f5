import { Injectable } from '@nestjs/common';

/** What happened, in order. */
@Injectable()
export class Journal {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }
}
