#!/usr/bin/env bash
# Pets go through LibreOffice and come back the same: as a file of Excel and as its own, in German and in English. What
# LibreOffice changes in a plain CSV file is refused. It needs libreoffice-calc.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
petstore() { node runtime/node.cjs src/cli/bin.ts pets "$@" --database "sqlite:$folder/pets.db"; }
# Converts a file: FROM TO-FORMAT TO-FOLDER, and more options.
convert() {
  soffice --headless "-env:UserInstallation=file://$folder/profile" --convert-to "$2" --outdir "$3" "${@:4}" "$1" \
    >"$folder/log" 2>&1
}

cat >"$folder/pets.ndjson" <<'END'
{"id":7,"name":"小白 「ポチ」","categoryId":9223372036854775807,"status":"sold"}
{"id":12345678901,"name":"say \"x\";\nsecond, line","categoryId":-9223372036854775808}
{"id":123456789012,"name":"=1+1","categoryId":12345678901}
{"id":9007199254740993,"name":"+49 170","categoryId":123456789012}
{"id":9223372036854775806,"name":"007","categoryId":-1,"status":"pending"}
{"id":8,"name":"Mar 1","categoryId":1}
{"id":9,"name":"wahr","categoryId":1}
{"id":10,"name":" TRUE ","categoryId":1}
{"id":11,"name":"1,5","categoryId":1}
{"id":12,"name":"1.000","categoryId":1}
{"id":13,"name":"'quoted","categoryId":1}
{"id":14,"name":"''twice","categoryId":1}
{"id":15,"name":"🐕‍🦺 \ufeff","categoryId":1}
{"id":16,"name":"#N/A","categoryId":1}
END
node runtime/node.cjs src/cli/bin.ts pets generate --count 2000 |
  sed 's/"id":/&2000/' >>"$folder/pets.ndjson"
petstore import "$folder/pets.ndjson" --by-id

for format in 'excel 59' 'excel-comma 44' 'csv 44'; do
  read -r name separator <<<"$format"
  for language in 1031 1033; do
    for kind in xlsx ods; do
      petstore export "$folder/list.csv" --format "$name"
      convert "$folder/list.csv" "$kind" "$folder/sheet" "--infilter=CSV:$separator,34,76,1,,$language,false,true"
      convert "$folder/sheet/list.$kind" \
        "csv:Text - txt - csv (StarCalc):$separator,34,76,1,,$language,false,true,false" "$folder/back"
      said=$(petstore import "$folder/back/list.csv" --by-id 2>&1) || true
      echo "$name, language $language, $kind: $(tail -2 <<<"$said" | head -1)"
      if [ "$name" = csv ]; then
        grep -q 'is written with an exponent' <<<"$said"
      else
        grep -qx '0 added, 0 corrected, 2,014 unchanged' <<<"$said"
      fi
    done
  done
done
