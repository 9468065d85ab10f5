import { IsInt, IsString, Length, Max, Min } from 'class-validator';

/** Body of `POST /orders`. */
export class PlaceOrderDto {
  @IsString()
  @Length(1, 64)
  readonly sku!: string;

  @IsInt()
  @Min(1)
  @Max(10)
  readonly quantity!: number;
}
