import { IsIn } from 'class-validator';
import type { FencingGuard } from './stage-picture.interface.js';

/** Body of `POST /tour/fencing`. */
export class RunFencingDto {
  @IsIn(['locked', 'fenced'])
  readonly guard!: FencingGuard;
}
