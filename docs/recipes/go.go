// A client of the petstore in Go 1.20 or newer: KEY=… go run go.go http://127.0.0.1:8080/v1
//
// It needs the standard library alone. An int64 of Go is exact, in JSON too; in an any it would be a
// float64, so a pet has a type.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	mathrand "math/rand"
	"net/http"
	neturl "net/url"
	"os"
	"regexp"
	"strconv"
	"time"
)

const triesMax = 10

var (
	client = http.Client{Timeout: 10 * time.Second}
	next   = regexp.MustCompile(`<([^>]*)>; rel="next"`)
)

type NewPet struct {
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

type Pet struct {
	ID int64 `json:"id"`
	NewPet
}

// Refused is an answer that would be the same again.
type Refused struct {
	Status int
	Text   string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d: %.200s", r.Status, r.Text) }

// send sends a request until it is answered, and reads the JSON into value: again when the answer is
// lost, and after 429, 502, 503 and 504 when Retry-After says. So a create needs its Idempotency-Key.
func send(method, url, idempotencyKey string, body []byte, value any) (*http.Response, error) {
	for tries := 1; ; tries++ {
		response, text, err := try(method, url, idempotencyKey, body)
		if err == nil && response.StatusCode < 400 {
			return response, json.Unmarshal(text, value)
		}
		seconds := 0
		if err == nil {
			switch response.StatusCode {
			case 429, 502, 503, 504:
				seconds, _ = strconv.Atoi(response.Header.Get("Retry-After"))
				err = fmt.Errorf("still %s", response.Status)
			default:
				return nil, &Refused{response.StatusCode, string(text)}
			}
		}
		if tries == triesMax {
			return nil, err
		}
		// The random part keeps clients that were refused together from coming back together.
		pause := math.Min(0.2*math.Pow(2, float64(tries)), 5) * mathrand.Float64()
		time.Sleep(time.Duration((float64(seconds) + pause) * float64(time.Second)))
	}
}

func try(method, url, idempotencyKey string, body []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// create adds a pet once, however often it is sent with the same key; it tells whether it was there.
func create(base string, pet NewPet, idempotencyKey string) (added Pet, replayed bool, err error) {
	body, err := json.Marshal(pet)
	if err != nil {
		return added, false, err
	}
	response, err := send("POST", base+"/pets", idempotencyKey, body, &added)
	return added, err == nil && response.Header.Get("Idempotency-Replayed") == "true", err
}

// list calls use with every pet of a query, page by page: list(base, "limit=100&status=sold", use).
func list(base, query string, use func(Pet)) error {
	home, err := neturl.Parse(base)
	if err != nil {
		return err
	}
	for url := base + "/pets?" + query; ; {
		var pets []Pet
		response, err := send("GET", url, "", nil, &pets)
		if err != nil {
			return err
		}
		for _, pet := range pets {
			use(pet)
		}
		found := next.FindStringSubmatch(response.Header.Get("Link"))
		if found == nil {
			return nil
		}
		// Its address is relative to this one's; the key is sent to this service alone.
		address, err := response.Request.URL.Parse(found[1])
		if err != nil {
			return err
		}
		if address.Scheme != home.Scheme || address.Host != home.Host {
			return fmt.Errorf("the next page is at another origin: %s", address)
		}
		url = address.String()
	}
}

func main() {
	if len(os.Args) != 2 || os.Getenv("KEY") == "" {
		log.Fatal("usage: KEY=… go run go.go http://127.0.0.1:8080/v1")
	}
	base := os.Args[1]
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		log.Fatal(err)
	}
	nameOfCreate := fmt.Sprintf("%x", random)
	rex := NewPet{Name: "Rex", CategoryID: math.MaxInt64}
	added, _, err := create(base, rex, nameOfCreate)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("added %d, category %d\n", added.ID, added.CategoryID)
	again, replayed, err := create(base, rex, nameOfCreate)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sent again: %d", again.ID)
	if replayed {
		fmt.Print(", replayed")
	}
	fmt.Println()
	if err := list(base, "limit=100", func(pet Pet) { fmt.Println(pet.ID, pet.Name) }); err != nil {
		log.Fatal(err)
	}
	var refused *Refused
	if err := list(base, "limit=0", func(Pet) {}); errors.As(err, &refused) {
		fmt.Println(refused)
	}
}
