#!/bin/sh
# call --check: what libraries do that the NIF API forbids, as it is told.
. tests/cli/report

sins=$BUILD_DIR/tests/plugins/sins.so
installed=/usr/lib/erlang/lib

# The address sanitizer would tell of the leaks, too.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

expect 'innocence' $tracehost call --check $sins 'sins:same({1,"two",<<3>>,#{4 => 5.0}}).' 'sins:gives_back(<<1,2,3>>).' <<EOF
{1,"two",<<3>>,#{4 => 5.0}}
ok
EOF

expect 'results' $tracehost call --check $sins 'sins:nothing().' 'sins:word().' 'sins:inner_word().' <<EOF
undefined
undefined
undefined
-- stderr
tracehost: check: sins:nothing(): returns 0: neither a term nor an exception
tracehost: check: sins:word(): returns 0x1230, which is no term
tracehost: check: sins:inner_word(): returns a term with 0x1b in it, which is none
-- status 1
EOF

expect 'without --check only what a BEAM would die of is noticed' $tracehost call $sins 'sins:nothing().' 'sins:release_inspected(<<1>>).' <<EOF
ok
-- stderr
** exception error: bad argument
     in function  sins:nothing/0
        called as sins:nothing()
-- status 1
EOF

expect 'terms of earlier calls' $tracehost call --check $sins 'sins:keep({first, [1]}).' 'sins:give_kept_inside(now).' \
    'sins:make_in_kept().' <<EOF
ok
undefined
ok
-- stderr
tracehost: check: sins:give_kept_inside(now): returns a term with a part of the environment of an earlier call, sins:keep({first,[1]})
tracehost: check: sins:make_in_kept(): makes a term in the environment of an earlier call, sins:keep({first,[1]})
-- status 1
EOF

expect 'what is bound stays what it was' $tracehost call --check $sins 'X = sins:all_kinds({1.5}), sins:same(7).' \
    'element(7, X).' <<EOF
7
{1.5}
EOF

expect 'given back twice' $tracehost call --check $sins 'sins:free_env_twice().' 'sins:release_often() =/= x.' <<EOF
ok
true
-- stderr
tracehost: check: sins:free_env_twice(): enif_free_env() of an environment that was given back already, to enif_free_env() by sins:free_env_twice()
tracehost: check: sins:release_often(): enif_release_resource() of a resource that was given back already, to enif_release_resource() by sins:release_often()
-- status 1
EOF

expect 'a destructor' $tracehost call --check $sins 'sins:in_destructor().' <<EOF
ok
-- stderr
tracehost: check: the destructor of careless of sins.so: enif_free() of memory that enif_alloc() never gave
-- status 1
EOF

expect 'leaks' $tracehost call --check --load-info=leak $sins 'A = sins:open_db("x"), B = sins:open_db("y"), ok.' 'sins:leak_memory(17).' <<EOF
ok
ok
-- stderr
tracehost: check: leak: 1 block of memory (24 bytes) that load of sins.so got from enif_alloc()
tracehost: check: leak: 1 block of memory (17 bytes) that sins:leak_memory/1 got from enif_alloc(), in sins:leak_memory(17)
tracehost: check: leak: 2 resources of type 'db' (160 bytes) that sins:open_db/1 got from enif_alloc_resource(), first in sins:open_db("x")
-- status 1
EOF

expect 'often' $tracehost call --check --repeat=15 $sins 'sins:release_inspected(<<1>>).' <<EOF
ok
-- stderr
$(yes 'tracehost: check: sins:release_inspected(<<1>>): enif_release_binary() of a binary that it only inspected' | head -10)
tracehost call: 15 rounds of 1 process, 0 evaluations failed
tracehost: check: sins:release_inspected/1: 5 times more: enif_release_binary() of a binary that it only inspected
-- status 1
EOF

# Continuations run in environments of their own, on dirty threads too.
expect 'functions that go on' $tracehost call --check $sins 'sins:goes_on([1,2], dirty).' 'sins:goes_on({<<1>>}, normal).' <<EOF
{went_on,[1,2]}
{went_on,{<<1>>}}
EOF

expect 'a function that goes on with a term of an earlier one' $tracehost call --check $sins 'sins:goes_on_with_kept({1}).' <<EOF
undefined
-- stderr
tracehost: check: sins:gives_kept_last(1), scheduled by sins:goes_on_with_kept/1: returns a term of the environment of an earlier call, sins:goes_on_with_kept({1})
-- status 1
EOF

expect 'many threads' $tracehost call --check --threads=4 --repeat=200 $sins 'sins:all_kinds({"a",1.5}) =/= x.' \
    'sins:gives_back(<<1,2>>).' 'sins:goes_on([1], dirty).' <<EOF
true
ok
{went_on,[1]}
-- stderr
tracehost call: 800 rounds of 4 processes, 0 evaluations failed
EOF

# clean NAME PATH ARGUMENT...: a library that others compiled; nothing is found.
clean() {
    name=$1
    library=$(echo $installed/$2)
    shift 2
    if [ ! -e "$library" ]; then
        skip "$name is clean" "it is not installed"
        return
    fi
    $tracehost call --check "$library" "$@" >"$work/stdout" 2>"$work/stderr"
    if [ $? = 0 ] && ! grep -q 'check:' "$work/stderr"; then
        pass "$name is clean"
    else
        fail "$name is clean"
        sed 's/^/    /' "$work/stdout" "$work/stderr" | head -20
    fi
}

clean jiffy 'jiffy-*/priv/jiffy.so' 'jiffy:nif_decode_init(<<"{\"a\":[1,2.5,null,\"x\",true]}">>, [return_maps]).' \
    'jiffy:nif_encode_init({[{<<"k">>,[1,2.5,12345678901234567890]}]}, []).' \
    'jiffy:nif_decode_init(<<"[1,">>, []).' 'jiffy:nif_encode_init({a,b}, []).'
crypto=$(echo $installed/crypto-*/priv/lib/crypto.so)
clean crypto 'crypto-*/priv/lib/crypto.so' "--load-info={302,<<\"${crypto%.so}\">>,false}" 'crypto:hash_nif(sha256, <<"abc">>).' \
    'crypto:hash_final_nif(crypto:hash_update_nif(crypto:hash_init_nif(sha), <<"a">>)).' \
    'crypto:mac_nif(hmac, sha256, <<"key">>, <<"data">>).' '<<_:32>> = crypto:strong_rand_bytes_nif(4).' \
    'try crypto:hash_nif(foo, bar) catch error:_ -> ok end.'
clean fast_yaml 'p1_yaml-*/priv/lib/fast_yaml.so' 'fast_yaml:nif_decode(<<"a: [1, 2.5, x]\nb: {c: \"d\"}\n---\n- &x foo\n- *x\n">>, 7).' \
    'fast_yaml:nif_decode(<<"a: \"\\q\"">>, 0).'
clean fxml 'p1_xml-*/priv/lib/fxml.so' 'fxml:element_to_binary({xmlel,<<"a">>,[{<<"b">>,<<"c">>}],[{xmlcdata,<<"t<">>}]}).'
clean fxml_stream 'p1_xml-*/priv/lib/fxml_stream.so' 'fxml_stream:parse_element(<<"<a b=\"c\">text<d/></a>">>).' \
    'S = fxml_stream:new(self(), 1000, []), fxml_stream:parse(S, <<"<s><a>x</a><b><c">>), flush().' \
    'fxml_stream:parse_element(<<"<a><b>">>).'
clean ezlib 'p1_zlib-*/priv/lib/ezlib.so' 'S = ezlib:new(), {ok, D} = ezlib:compress(S, <<"hello hello hello">>), ezlib:decompress(S, D).' \
    'ezlib:decompress(S, <<"garbage">>).'
clean iconv 'p1_iconv-*/priv/lib/iconv.so' 'iconv:convert("iso-8859-1", "utf-8", <<228,246>>).' 'iconv:convert("nope", "utf-8", <<"a">>).'
clean asn1rt_nif 'asn1-*/priv/lib/asn1rt_nif.so' --load-info=1 'asn1rt_nif:decode_ber_tlv_raw(<<2,1,5>>).' \
    'asn1rt_nif:encode_ber_tlv({2,<<5>>}).'
clean mqtree 'p1_mqtree-*/priv/lib/mqtree.so' 'T = mqtree:new(), mqtree:insert(T, <<"a/+">>), mqtree:match(T, <<"a/b">>).'

finish
