#include "ui/panels/timeline/timeline_accessible.h"

#include <QAccessibleWidget>

#include "ui/panels/timeline/timeline_view.h"

namespace sonde::panels {

namespace {

class AccessibleTimeline : public QAccessibleWidget, public QAccessibleValueInterface {
  public:
    explicit AccessibleTimeline(TimelineView* view) : QAccessibleWidget(view, QAccessible::Slider) {}

    void* interface_cast(QAccessible::InterfaceType type) override {
        if (type == QAccessible::ValueInterface) return static_cast<QAccessibleValueInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }
    QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Value || which == QAccessible::Description) return view()->placeText();
        return QAccessibleWidget::text(which);
    }

    QVariant currentValue() const override {
        const TimelineScene& scene = view()->scene();
        return scene.isEnd || scene.current() == kNoItem ? maximumOrNone(scene) : static_cast<int>(scene.current());
    }
    void setCurrentValue(const QVariant& value) override { view()->goTo(value.toInt()); }
    QVariant maximumValue() const override {
        const auto* timeline = view()->scene().timeline;
        return timeline && timeline->size() > 0 ? static_cast<int>(timeline->size() - 1) : 0;
    }
    QVariant minimumValue() const override { return 0; }
    QVariant minimumStepSize() const override { return 1; }

  private:
    TimelineView* view() const { return static_cast<TimelineView*>(widget()); }
    int maximumOrNone(const TimelineScene& scene) const { return scene.isEnd ? maximumValue().toInt() : 0; }
};

}  // namespace

QAccessibleInterface* accessibleTimelineOf(const QString&, QObject* object) {
    auto* view = qobject_cast<TimelineView*>(object);
    return view ? new AccessibleTimeline(view) : nullptr;
}

}  // namespace sonde::panels
