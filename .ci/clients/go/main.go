// The scenario with the client of oapi-codegen. Its int64 are exact.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"

	petstore "petstore-clients/generated"
)

var background = context.Background()

func createPetstore(key string) *petstore.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(petstore.NewClientWithResponses(os.Getenv("BASE_URL"), petstore.WithRequestEditorFn(authorize)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func assertEqual(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Sprintf("%#v is not %#v", actual, expected))
	}
}

func assertError(answer *petstore.Error, status int, code string) {
	assertEqual([]any{answer.Status, answer.Code}, []any{status, code})
}

func pointer[T any](value T) *T { return &value }

func main() {
	client := createPetstore(os.Getenv("KEY"))
	rex := petstore.NewPet{Name: "Rex", CategoryId: 9223372036854775807, Status: pointer(petstore.Available)}
	pet := petstore.Pet{Id: 251, Name: rex.Name, CategoryId: rex.CategoryId, Status: rex.Status}
	mia := petstore.NewPet{Name: "Mia", CategoryId: 7}
	blank := petstore.NewPet{Name: " ", CategoryId: 7}

	assertEqual(must(client.CreatePetWithResponse(background, nil, rex)).JSON201, &pet)

	order := &petstore.CreatePetParams{IdempotencyKey: pointer("order-1")}
	first := must(client.CreatePetWithResponse(background, order, rex))
	second := must(client.CreatePetWithResponse(background, order, rex))
	assertEqual(second.JSON201, first.JSON201)
	assertEqual(second.Headers201.IdempotencyReplayed, pointer(true))
	assertError(must(client.CreatePetWithResponse(background, order, mia)).JSONDefault, 422, "idempotency_key_reused")

	assertEqual(must(client.GetPetWithResponse(background, 251)).JSON200, &pet)
	assertError(must(client.GetPetWithResponse(background, 999)).JSON404, 404, "not_found")

	five := &petstore.ListPetsParams{Limit: pointer(5), Status: pointer(petstore.Sold)}
	sold := *must(client.ListPetsWithResponse(background, five)).JSON200
	assertEqual(len(sold), 5)
	for _, pet := range sold {
		assertEqual(*pet.Status, petstore.Sold)
	}

	assertEqual(listAll(client), 252)

	refused := must(client.CreatePetWithResponse(background, nil, blank)).JSON400
	assertError(refused, 400, "bad_request")
	assertEqual(strings.HasPrefix(refused.Message, "name "), true)

	stranger := must(createPetstore("wrong").ListPetsWithResponse(background, nil))
	assertError(stranger.JSON401, 401, "unauthorized")
}

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// listAll reads every page and returns how many pets there are, whose ids count up from 1.
func listAll(client *petstore.ClientWithResponses) int {
	count := 0
	for params := (&petstore.ListPetsParams{Limit: pointer(100)}); ; {
		page := must(client.ListPetsWithResponse(background, params))
		for _, pet := range *page.JSON200 {
			count++
			assertEqual(pet.Id, int64(count))
		}
		if page.Headers200.Link == nil {
			return count
		}
		address := must(url.Parse(next.FindStringSubmatch(*page.Headers200.Link)[1]))
		params.Cursor = pointer(address.Query().Get("cursor"))
	}
}
