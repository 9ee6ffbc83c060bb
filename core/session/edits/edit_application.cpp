#include "core/session/edits/edit_application.h"

#include "core/session/edits/selection.h"

namespace sonde::session {

base::Result<tensor::Value> pullBack(const ReadyEdit& edit, const tensor::Value& gradient) {
    const Edit& what = edit.edit();
    if (what.kind == Edit::Kind::Noise || gradient.isNone()) return gradient;
    EditPlace place;
    SONDE_ASSIGN(const Slice slice, Slice::parse(what.slice, place));
    const bool isOverwritten = what.kind == Edit::Kind::Expression || what.kind == Edit::Kind::File;
    if (!slice.names().empty() || (isOverwritten && !edit.writesConstants()))
        return base::usageError("the edit '" + editText(what) + "' is made of values of the run", {},
                                "switch it off, or write numbers in it");
    // All others are their own transposes.
    return (isOverwritten ? edit.with(Edit::Kind::Zero) : edit).apply(gradient, {}, {}, place);
}

}  // namespace sonde::session
