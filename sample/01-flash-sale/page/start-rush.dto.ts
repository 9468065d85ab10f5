import { IsIn } from 'class-validator';
import type { SaleMode } from '../demo/sale-mode.js';

/** Body of `POST /rushes`. */
export class StartRushDto {
  @IsIn(['unlocked', 'locked'])
  readonly mode!: SaleMode;
}
