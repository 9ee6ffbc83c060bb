// The pickle machine. Its hooks answer as those of an archive do: storages are strings, some calls give a value.

#include "core/io/torchscript/pickle.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    io::PickleHooks hooks;
    hooks.persistent = [](const tensor::Value&) -> base::Result<tensor::Value> {
        return tensor::Value(std::string("storage"));
    };
    hooks.call = [](const std::string& name,
                    const tensor::Value& arguments) -> base::Result<std::optional<tensor::Value>> {
        if (name.ends_with("OrderedDict")) return std::optional<tensor::Value>(tensor::Value::dict({}));
        if (name.ends_with("build_intlist")) return std::optional<tensor::Value>(arguments);
        return std::optional<tensor::Value>();
    };
    const auto value = io::readPickle(std::as_bytes(std::span(data, size)), hooks, "fuzz");
    if (value) (void)value->text();
    return 0;
}
