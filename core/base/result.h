#pragma once

#include <cassert>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/error.h"

namespace sonde::base {

/// A value or the reason why there is none. The names are those of std::expected, which will replace it.
/// Bad input is an Error; a broken invariant of our own asserts.
template <typename T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}
    template <typename U>
    requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error> && !std::is_same_v<std::remove_cvref_t<U>, Result>)
        Result(U&& value)
        : m_state(std::in_place_index<0>, std::forward<U>(value)) {}

    bool has_value() const { return m_state.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        assert(has_value());
        return *std::get_if<0>(&m_state);
    }
    const T& value() const& {
        assert(has_value());
        return *std::get_if<0>(&m_state);
    }
    T&& value() && {
        assert(has_value());
        return std::move(*std::get_if<0>(&m_state));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    Error& error() & {
        assert(!has_value());
        return *std::get_if<1>(&m_state);
    }
    const Error& error() const& {
        assert(!has_value());
        return *std::get_if<1>(&m_state);
    }
    Error&& error() && {
        assert(!has_value());
        return std::move(*std::get_if<1>(&m_state));
    }

    template <typename U>
    T value_or(U&& other) const& {
        return has_value() ? value() : static_cast<T>(std::forward<U>(other));
    }

  private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    using value_type = void;

    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_failed(true) {}

    bool has_value() const { return !m_failed; }
    explicit operator bool() const { return !m_failed; }
    void value() const { assert(!m_failed); }
    Error& error() & {
        assert(m_failed);
        return m_error;
    }
    const Error& error() const& {
        assert(m_failed);
        return m_error;
    }
    Error&& error() && {
        assert(m_failed);
        return std::move(m_error);
    }

  private:
    Error m_error;
    bool m_failed = false;
};

}  // namespace sonde::base

/// Returns the error of a Result-valued expression from the enclosing function, or goes on.
#define SONDE_TRY(expression)                                          \
    do {                                                               \
        auto sondeTryResult = (expression);                            \
        if (!sondeTryResult) return std::move(sondeTryResult).error(); \
    } while (false)

#define SONDE_CONCAT_(a, b) a##b
#define SONDE_CONCAT(a, b) SONDE_CONCAT_(a, b)

/// `SONDE_ASSIGN(auto x, f());` declares x from a Result, or returns its error from the enclosing function.
#define SONDE_ASSIGN(declaration, expression) \
    SONDE_ASSIGN_(SONDE_CONCAT(sondeAssign, __LINE__), declaration, expression)
#define SONDE_ASSIGN_(temporary, declaration, expression) \
    auto temporary = (expression);                        \
    if (!temporary) return std::move(temporary).error();  \
    declaration = std::move(temporary).value()
