#pragma once

// Parts of a traced module file's header that writing and reading share: how values and structures look as JSON.

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "core/trace/traced_module.h"

namespace sonde::io::tm {

using Json = nlohmann::json;

/// Tensors of a file in the order of its blob; a tensor that occurs twice is stored once.
class TensorTable {
  public:
    std::size_t add(const tensor::Tensor& tensor);
    const std::vector<tensor::Tensor>& tensors() const { return m_tensors; }

  private:
    std::vector<tensor::Tensor> m_tensors;
    /// Those that begin at an element of a storage.
    std::map<std::pair<const tensor::Storage*, std::int64_t>, std::vector<std::size_t>> m_begins;
};

/// What is wrong with JSON, without the parser's own prefix: "key 'type' not found".
inline std::string problemText(const Json::exception& error) {
    const std::string_view text = error.what();
    const std::size_t end = text.find("] ");
    return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

/// Thrown inside of this folder only.
struct CodecError {
    base::Error error;
};

Json toJson(const tensor::Value& value, TensorTable& tensors);
Json toJson(const trace::Structure& structure, TensorTable& tensors);
Json toJson(const trace::Operand& operand, const std::function<std::size_t(const trace::TracedNode&)>& number,
            TensorTable& tensors);
Json toJson(const tensor::TypeInfo& type);

tensor::Value valueFrom(const Json& json, const std::vector<tensor::Tensor>& tensors, int depth = 0);
trace::Structure structureFrom(const Json& json, const std::vector<tensor::Tensor>& tensors, int depth = 0);
trace::Operand operandFrom(const Json& json, const std::vector<trace::TracedNode*>& nodes,
                           const std::vector<tensor::Tensor>& tensors, int depth = 0);
tensor::TypeInfo typeFrom(const Json& json);

/// A tensor of `bytes`: where they lie, or a copy if they are not aligned for the dtype (a dump need not begin where a
/// stream begins) or are bools other than 0 and 1.
tensor::Tensor tensorOn(std::span<const std::byte> bytes, tensor::DType dtype, tensor::Shape shape,
                        const std::shared_ptr<const void>& owner);

/// The element of a list, or CodecError.
template <typename T>
const T& elementAt(const std::vector<T>& list, const Json& index) {
    const auto i = index.get<std::uint64_t>();
    if (i >= list.size())
        throw CodecError{
            base::unreadable("number " + std::to_string(i) + " of " + std::to_string(list.size()) + " does not exist")};
    return list[i];
}

}  // namespace sonde::io::tm
