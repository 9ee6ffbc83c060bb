#include "ui/context/canvases.h"

namespace sonde::context {

Canvases::Canvases(OpenModel& model, Navigation& navigation, Messages& messages)
    : m_states{{{model, navigation, messages, 0}, {model, navigation, messages, 1}}} {
    for (const CanvasState& state : m_states) {
        connect(&state, &CanvasState::viewChanged, this, &Canvases::viewsChanged);
        connect(&state, &CanvasState::viewChanged, this, &Canvases::viewChanged);
        connect(&state, &CanvasState::focusChanged, this, &Canvases::focusChanged);
    }
    connect(&navigation, &Navigation::openingRequested, this,
            [this](const Selection& selection) { active().open(selection); });
}

void Canvases::setActive(int number) {
    if (number == m_active || number < 0 || number >= kCount) return;
    m_active = number;
    Q_EMIT activeCanvasChanged(number);
}

void Canvases::setSplit(const QString& split) {
    if (split == m_split) return;
    m_split = split;
    Q_EMIT viewsChanged();
}

void Canvases::restoreSplit(const QString& split) {
    if (m_split.isEmpty() && !split.isEmpty()) Q_EMIT splitRequested(split);
}

void Canvases::copyToOther() {
    at(1 - m_active).takeOver(active());
    Q_EMIT viewsChanged();
}

}  // namespace sonde::context
