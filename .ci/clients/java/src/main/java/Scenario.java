import io.swagger.client.ApiClient;
import io.swagger.client.ApiException;
import io.swagger.client.ApiResponse;
import io.swagger.client.api.AnimalsApi;
import io.swagger.client.auth.OAuth;
import io.swagger.client.model.NewPet;
import io.swagger.client.model.Pet;
import io.swagger.client.model.PetStatus;
import io.swagger.client.model.Pets;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The scenario with the client of swagger-codegen. Its int64 are exact. */
public class Scenario {
  private static final Pattern NEXT = Pattern.compile("cursor=([^&>]*)[^>]*>; rel=\"next\"");

  public static void main(String[] args) throws ApiException {
    AnimalsApi api = createApi(System.getenv("KEY"));
    NewPet rex = createPet("Rex", Long.MAX_VALUE, PetStatus.AVAILABLE);
    NewPet mia = createPet("Mia", 7L, null);

    Pet created = api.createPet(rex, null);
    assertEqual(created.getId(), 251L);
    assertEqual(created.getCategoryId(), Long.MAX_VALUE);
    assertEqual(created.getStatus(), PetStatus.AVAILABLE);

    Pet first = api.createPet(rex, "order-1");
    ApiResponse<Pet> second = api.createPetWithHttpInfo(rex, "order-1");
    assertEqual(second.getData(), first);
    assertEqual(second.getHeaders().get("Idempotency-Replayed"), List.of("true"));
    assertRefused(422, () -> api.createPet(mia, "order-1"));

    assertEqual(api.getPet(251L), created);
    assertRefused(404, () -> api.getPet(999L));

    Pets sold = api.listPets(5, PetStatus.SOLD, null);
    assertEqual(sold.size(), 5);
    for (Pet pet : sold) assertEqual(pet.getStatus(), PetStatus.SOLD);
    assertEqual(countAll(api), 252L);

    assertRefused(400, () -> api.createPet(createPet(" ", 7L, null), null));
    assertRefused(401, () -> createApi("wrong").listPets(null, null, null));
  }

  private static AnimalsApi createApi(String key) {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    ((OAuth) client.getAuthentication("bearerAuth")).setAccessToken(key);
    return new AnimalsApi(client);
  }

  private static NewPet createPet(String name, long categoryId, PetStatus status) {
    NewPet pet = new NewPet();
    pet.setName(name);
    pet.setCategoryId(categoryId);
    pet.setStatus(status);
    return pet;
  }

  /** Reads every page. The ids count up from 1. */
  private static long countAll(AnimalsApi api) throws ApiException {
    long count = 0;
    String cursor = null;
    do {
      ApiResponse<Pets> page = api.listPetsWithHttpInfo(100, null, cursor);
      for (Pet pet : page.getData()) assertEqual(pet.getId(), ++count);
      List<String> links = page.getHeaders().getOrDefault("Link", List.of());
      Matcher next = NEXT.matcher(String.join(", ", links));
      cursor = next.find() ? next.group(1) : null;
    } while (cursor != null);
    return count;
  }

  private interface Call {
    Object run() throws ApiException;
  }

  private static void assertRefused(int status, Call call) throws ApiException {
    try {
      call.run();
    } catch (ApiException error) {
      assertEqual(error.getCode(), status);
      return;
    }
    throw new AssertionError("no error " + status);
  }

  private static void assertEqual(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " is not " + expected);
  }
}
