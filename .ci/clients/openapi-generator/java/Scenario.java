/** The scenario with the client of openapi-generator for Java. Its Long are exact. */

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import petstore.ApiClient;
import petstore.ApiException;
import petstore.api.AnimalsApi;
import petstore.model.NewPet;
import petstore.model.PetStatus;

public class Scenario {
    interface Call {
        void run() throws ApiException;
    }

    static AnimalsApi createPetstore(String key) {
        var client = new ApiClient();
        client.updateBaseUri(System.getenv("BASE_URL"));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
        return new AnimalsApi(client);
    }

    static void assertEqual(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " is not " + expected);
    }

    static void assertError(Call call, int status, String body) {
        try {
            call.run();
        } catch (ApiException exception) {
            assertEqual(exception.getCode(), status);
            assertEqual(exception.getResponseBody().startsWith(body), true);
            return;
        }
        throw new AssertionError("no " + body);
    }

    public static void main(String[] args) throws ApiException {
        var petstore = createPetstore(System.getenv("KEY"));
        var rex = new NewPet().name("Rex").categoryId(Long.MAX_VALUE).status(PetStatus.AVAILABLE);
        var mia = new NewPet().name("Mia").categoryId(7L);
        var blank = new NewPet().name(" ").categoryId(7L);

        var created = petstore.createPet(rex, null);
        assertEqual(created.getId(), 251L);
        assertEqual(created.getCategoryId(), 9223372036854775807L);

        var first = petstore.createPetWithHttpInfo(rex, "order-1");
        var second = petstore.createPetWithHttpInfo(rex, "order-1");
        assertEqual(second.getData(), first.getData());
        assertEqual(second.getHeaders().get("idempotency-replayed"), List.of("true"));
        assertError(() -> petstore.createPet(mia, "order-1"), 422, "{\"code\":\"idempotency_key_reused\"");

        assertEqual(petstore.getPet(251L), created);
        assertError(() -> petstore.getPet(999L), 404, "{\"code\":\"not_found\"");

        var sold = petstore.listPets(5, PetStatus.SOLD, null);
        assertEqual(sold.stream().filter(pet -> pet.getStatus() == PetStatus.SOLD).count(), 5L);

        var ids = new ArrayList<Long>();
        var next = Pattern.compile("[?&]cursor=([^&>]+)[^>]*>; rel=\"next\"");
        for (String cursor = null; ; ) {
            var page = petstore.listPetsWithHttpInfo(100, null, cursor);
            page.getData().forEach(pet -> ids.add(pet.getId()));
            var found = next.matcher(String.join("", page.getHeaders().getOrDefault("link", List.of())));
            if (!found.find()) break;
            cursor = found.group(1);
        }
        assertEqual(ids, LongStream.rangeClosed(1, 252).boxed().toList());

        assertError(() -> petstore.createPet(blank, null), 400, "{\"code\":\"bad_request\",\"message\":\"name ");
        assertError(() -> createPetstore("wrong").listPets(null, null, null), 401, "{\"code\":\"unauthorized\"");
    }
}
