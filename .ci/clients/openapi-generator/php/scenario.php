<?php
/** The scenario with the client of openapi-generator for PHP. Its int are exact. */

declare(strict_types=1);

use Petstore\Api\AnimalsApi;
use Petstore\ApiException;
use Petstore\Configuration;
use Petstore\Model\Error;
use Petstore\Model\NewPet;
use Petstore\Model\PetStatus;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $name): void {
    if (str_starts_with($name, 'Petstore\\')) require __DIR__ . '/generated/lib/' . strtr(substr($name, 9), '\\', '/') . '.php';
});

function create_petstore(string $key): AnimalsApi
{
    $configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken($key);
    return new AnimalsApi(config: $configuration);
}

function assert_error(callable $call, int $status, string $code): string
{
    try {
        $call();
    } catch (ApiException $exception) {
        $error = $exception->getResponseObject();
        assert($error instanceof Error);
        assert($exception->getCode() === $status && $error->getStatus() === $status && $error->getCode() === $code);
        return $error->getMessage();
    }
    throw new Exception("no $code");
}

$petstore = create_petstore(getenv('KEY'));
$rex = new NewPet(['name' => 'Rex', 'category_id' => PHP_INT_MAX, 'status' => PetStatus::AVAILABLE]);

$created = $petstore->createPet($rex);
assert($created->getId() === 251 && $created->getCategoryId() === 9223372036854775807);

[$first] = $petstore->createPetWithHttpInfo($rex, 'order-1');
[$second, , $headers] = $petstore->createPetWithHttpInfo($rex, 'order-1');
assert($second == $first && $headers['Idempotency-Replayed'] === ['true']);
$mia = new NewPet(['name' => 'Mia', 'category_id' => 7]);
assert_error(fn () => $petstore->createPet($mia, 'order-1'), 422, 'idempotency_key_reused');

assert($petstore->getPet(251) == $created);
assert_error(fn () => $petstore->getPet(999), 404, 'not_found');

$sold = $petstore->listPets(5, PetStatus::SOLD);
assert(array_map(fn ($pet) => $pet->getStatus(), $sold) === array_fill(0, 5, PetStatus::SOLD));

$ids = [];
for ($cursor = null, $is_more = true; $is_more; $cursor = $found[1] ?? null) {
    [$pets, , $headers] = $petstore->listPetsWithHttpInfo(100, null, $cursor);
    array_push($ids, ...array_map(fn ($pet) => $pet->getId(), $pets));
    $is_more = preg_match('/[?&]cursor=([^&>]+)[^>]*>; rel="next"/', $headers['Link'][0] ?? '', $found) === 1;
}
assert($ids === range(1, 252));

// The setters of the model refuse a blank name; its constructor does not, so the service does.
$blank = new NewPet(['name' => ' ', 'category_id' => 7]);
assert(!$blank->valid());
assert(str_starts_with(assert_error(fn () => $petstore->createPet($blank), 400, 'bad_request'), 'name '));

assert_error(fn () => create_petstore('wrong')->listPets(), 401, 'unauthorized');
