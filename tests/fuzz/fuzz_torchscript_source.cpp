// Lexer and parser of the serialised language.

#include "core/io/torchscript/lexer.h"
#include "core/io/torchscript/syntax.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)io::script::tokenize(text, "fuzz.py");
    (void)io::script::parseSource(text, "fuzz.py");
    return 0;
}
