#pragma once

#include <cstddef>
#include <string_view>

namespace sonde::operators {

/// The operator of ONNX gives elements of its inputs unchanged and no others: neither computed ones nor a fill like
/// that of Pad. Where is one, too, although it has not Trait::MovesData: it chooses each element by a condition.
bool onlyMovesElements(std::string_view domain, std::string_view operatorName);
/// Whether the outputs of such an operator hold elements of this input; the others say which elements, and where they
/// go.
bool movesElementsOf(std::string_view domain, std::string_view operatorName, std::size_t input);

}  // namespace sonde::operators
