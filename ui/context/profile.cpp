#include "ui/context/profile.h"

#include <utility>
#include <vector>

namespace sonde::context {

namespace {

using ProfiledDocument = std::pair<std::weak_ptr<const document::Document>, Profile::Report>;

/// Columns of the node table know a document, not a window.
std::vector<ProfiledDocument>& profiledDocuments() {
    static std::vector<ProfiledDocument> documents;
    return documents;
}

void remember(const std::shared_ptr<const document::Document>& document, const Profile::Report& report) {
    std::erase_if(profiledDocuments(), [&document](const ProfiledDocument& profiled) {
        const auto known = profiled.first.lock();
        return !known || known == document;
    });
    if (document && report) profiledDocuments().emplace_back(document, report);
}

}  // namespace

Profile::Profile(const OpenModel& opened, QObject* parent) : QObject(parent) {
    connect(&opened, &OpenModel::documentLeft, this, [this] { set(nullptr, nullptr); });
}

Profile::~Profile() = default;

void Profile::set(const std::shared_ptr<const document::Document>& document, Report report) {
    if (report == m_report) return;
    m_report = std::move(report);
    remember(document, m_report);
    Q_EMIT changed();
}

Profile& profileOf(const QObject& context) {
    auto* profile = context.findChild<Profile*>({}, Qt::FindDirectChildrenOnly);
    Q_ASSERT(profile);
    return *profile;
}

Profile::Report profileOf(const std::shared_ptr<const document::Document>& document) {
    for (const ProfiledDocument& profiled : profiledDocuments())
        if (document && profiled.first.lock() == document) return profiled.second;
    return nullptr;
}

}  // namespace sonde::context
