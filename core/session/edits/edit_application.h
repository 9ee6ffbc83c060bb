#pragma once

#include <span>

#include "core/session/edits/ready_edit.h"

namespace sonde::session {

/// What a plan's exec::ValueEdit calls for an edit of a session: who has the plan finds the edit again by it.
struct EditApplication {
    ReadyEdit edit;

    base::Result<tensor::Value> operator()(const tensor::Value& value, std::span<const tensor::Value> operands) const {
        EditPlace place;
        return edit.apply(value, operands, {}, place);
    }
};

/// Of the gradient by the value after the edit the one by the value before it: what the edit overwrites has none, what
/// it scales or exchanges has its gradient so. Error (Usage): its slice or its elements are made of values of the run.
base::Result<tensor::Value> pullBack(const ReadyEdit& edit, const tensor::Value& gradient);

}  // namespace sonde::session
