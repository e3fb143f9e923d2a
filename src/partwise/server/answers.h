#pragma once

#include "partwise/server/desk.h"

namespace partwise::server {

// The rows of the table of addresses (docs/explorer.md), by what they are about. The desk must
// outlive them.
std::vector<Route> run_routes(Desk& desk);
std::vector<Route> filter_routes(Desk& desk);
std::vector<Route> photo_routes(Desk& desk);
std::vector<Route> error_routes(Desk& desk);
std::vector<Route> compare_routes(Desk& desk);
std::vector<Route> sheet_routes(Desk& desk);

// The page itself.
std::vector<Route> page_routes();

}  // namespace partwise::server
