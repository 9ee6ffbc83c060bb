#pragma once

#include <array>
#include <utility>

#include "core/layout/view_state.h"

namespace sonde::window {

/// The actions that choose whether a long flow is drawn in columns: one of them is checked.
inline constexpr std::array kWrapActions{std::pair{"view.wrap_automatic", layout::Wrapping::Automatic},
                                         std::pair{"view.wrap_on", layout::Wrapping::On},
                                         std::pair{"view.wrap_off", layout::Wrapping::Off}};

/// `view` with another choice; the canvas, which knows its size, chooses the length of columns.
inline layout::ViewState rewrapped(layout::ViewState view, layout::Wrapping wrapping) {
    if (view.wrapping != wrapping) view.columnHeight = 0;
    view.wrapping = wrapping;
    return view;
}

}  // namespace sonde::window
