#pragma once

class QAccessibleInterface;
class QObject;
class QString;

namespace sonde::panels {

/// For QAccessible::installFactory: how a TimelineView speaks to screen readers, as a slider whose value is the current
/// step and whose text says what that is. Null for other objects.
QAccessibleInterface* accessibleTimelineOf(const QString& key, QObject* object);

}  // namespace sonde::panels
