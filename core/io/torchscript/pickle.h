#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/tensor/value.h"

namespace sonde::io {

/// An instance in a pickle: its class by name and what BUILD gave it. Nothing of the class is ever run.
class PickledObject final : public tensor::ObjectBase {
  public:
    PickledObject(std::string className, tensor::Value arguments)
        : m_className(std::move(className)), m_arguments(std::move(arguments)) {}
    std::string typeName() const override { return m_className; }
    const tensor::Value& arguments() const { return m_arguments; }  ///< a tuple, empty for NEWOBJ; of an Enum its value
    tensor::Value state;                                            ///< a dict for modules; none if there was no BUILD

  private:
    std::string m_className;
    tensor::Value m_arguments;
};

/// A class or function named in a pickle ("torch._utils _rebuild_tensor_v2" → "torch._utils._rebuild_tensor_v2").
class PickledGlobal final : public tensor::ObjectBase {
  public:
    explicit PickledGlobal(std::string name) : m_name(std::move(name)) {}
    std::string typeName() const override { return m_name; }

  private:
    std::string m_name;
};

/// What the pickle's owner makes of the two forms that point outside.
struct PickleHooks {
    /// A persistent id (BINPERSID): ('storage', type, key, location, count).
    std::function<base::Result<tensor::Value>(const tensor::Value& id)> persistent;
    /// A call of a global (REDUCE); nothing to keep it as a PickledObject.
    std::function<base::Result<std::optional<tensor::Value>>(const std::string& name, const tensor::Value& arguments)>
        call;
};

/// Reads one pickled value (protocols 2 to 4 as far as TorchScript and state dicts use them; Lib/pickletools.py has the
/// list). No code of any kind is executed: instances become PickledObjects. Containers are shared as in the pickle.
/// `sizeBytes`, if given, becomes the number of bytes that the value takes: another pickle may follow.
/// Errors name the byte offset: unknown opcodes, a stack or memo used wrongly, nesting or growth beyond bounds.
base::Result<tensor::Value> readPickle(std::span<const std::byte> bytes, const PickleHooks& hooks,
                                       std::string_view place, std::size_t* sizeBytes = nullptr);

}  // namespace sonde::io
