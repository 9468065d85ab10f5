import { Matches } from 'class-validator';

/** Body of `POST /imports`. */
export class StartImportDto {
  /** A name without a path. */
  @Matches(/^[\w-]{1,64}\.csv$/)
  readonly file!: string;
}
